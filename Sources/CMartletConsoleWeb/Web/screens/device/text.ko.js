export default {
  "title": "기기", "gone.last": "마지막 변경 {time}: {what}.", "gone": "더 이상 등록되어 있지 않은 기기입니다. 예전 정보를 보여 줍니다.", "back": "뒤로", "subtitle": "{service} 기기입니다.", "service": "푸시 서비스", "handle": "핸들", "digest": "다이제스트 {digest}",
  "tags": "태그", "tags.none": "없음", "key.text": "암호화 메시지 키", "key.push": "구독 키", "installation": "설치", "registration": "등록", "made": "등록일", "expires": "만료", "expires.never": "없음",
  "history": "최근 31일", "change.changed": "변경", "change.expired": "만료", "change.deleted": "삭제", "change.taken": "핸들을 다른 등록이 넘겨받음", "change.unregistered": "사라졌다고 알려짐", "change.moved": "새 핸들",
  "kind.native": "네이티브", "kind.template": "템플릿", "send": "여기로 새 발송",
  "remove": "삭제", "remove.title": "이 기기를 삭제할까요?", "remove.text": "앱이 다시 등록할 때까지 아무것도 받지 않습니다. 대부분의 앱은 열 때 다시 등록합니다.", "remove.done": "기기를 삭제했습니다.",
  "why.label": "왜 이 발송을 못 받았나요?", "why.placeholder": "발송 ID", "why.none": "이 허브에 이 ID의 발송이 없습니다. ID는 발송 페이지에 있습니다.", "why.go": "이유 보기",
  "meant": "이 기기가 대상이었던 발송", "lookedBack": "{time}까지 살펴봄", "further": "더 이전",
  "none": "최근 대상이 된 발송이 없습니다", "none.text": "이 기기가 대상이었던 발송과 그 결과가 여기에 나옵니다.",
};
