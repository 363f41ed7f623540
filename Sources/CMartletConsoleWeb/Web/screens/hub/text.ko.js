export default {
  "subtitle": "앱 하나의 공간입니다. 기기에 닿는 방법과 쓸 수 있는 사람을 정합니다.", "tab.services": "서비스", "tab.tags": "태그", "tab.keys": "키", "tab.jobs": "작업", "tab.limits": "설정",
  "hub.new": "새 허브", "hub.name": "이름", "hub.name.help": "글자, 숫자, 점, 하이픈, 밑줄. 앱의 연결 문자열에 들어갑니다.", "hub.make": "만들기",
  "others": { other: "다른 푸시 서비스 {n}개" }, "credential.usable": "사용 가능", "credential.missing": "인증 정보 없음", "credential.unusable": "사용 불가", "credential.unchecked": "확인 안 됨", "credential.simulated": "시뮬레이션", "simulated.text": "내장 시뮬레이터로 보냄", "state.failing": "장애", "state.held": "일부 보류",
  "ends": "만료 {date}, {relative}", "ends.unknown": "만료일 알 수 없음", "connections": { other: "연결 {n}개" },
  "missing.devices": { other: "기기 {n}대가 아무것도 받지 못합니다." }, "lane.refused": "{service}: 인증 정보가 거부되었습니다({reason}). 바꿀 때까지 이 플랫폼에서는 아무도 받지 못하고, 푸시는 기다립니다.", "credential.refused": "거부됨", "lane.paused": "{time}까지 멈춤: {reason}. 대기 중인 푸시는 저절로 나갑니다.", "origin.paused": "{origin} 응답 없음. 다음 시도 {time}.", "quarantine": "{names}에서 거의 모든 기기가 사라진 것으로 보입니다. 다시 성공할 때까지 지우지 않습니다.",
  "set": "인증 정보 설정", "replace": "바꾸기", "generate": "키 만들기", "generated": "키를 만들었습니다", "generated.text": "앱은 이 공개 키로 구독합니다. 개인 키는 서버에만 있습니다.", "fingerprint": "지문",
  "remove": "삭제", "remove.title": "{service} 인증 정보를 삭제할까요?", "remove.text": "다른 것을 설정할 때까지 이 플랫폼으로는 나가지 않습니다.", "remove.simulated": "새로 설정할 때까지 이 플랫폼의 푸시는 내장 시뮬레이터로 갑니다.",
  "tags.find": "태그 찾기", "tags.placeholder": "앞부분 입력", "tags.none": "아직 태그가 없습니다", "tags.noneSo": "이렇게 시작하는 태그가 없습니다", "tags.none.text": "앱이 기기를 등록할 때 태그를 붙이고, 발송할 때 태그로 고릅니다.", "tags.count": "세기", "tags.send": "보내기", "tags.sendTo": "{tag} 대상 새 발송", "tags.more": "태그 더 보기",
  "keys.hidden": "연결 문자열", "keys.hidden.text": "가진 사람은 이 허브를 쓸 수 있습니다. 비밀번호를 확인한 뒤 표시하며, 열람 기록이 남습니다.", "keys.show": "보기", "right.Manage": "관리", "right.Send": "발송", "right.Listen": "기기 등록",
  "key.primary": "기본", "key.secondary": "보조", "key.renew": "새 키 만들기", "key.renew.title": "새 키를 만들까요?", "key.renew.text": "지금 {rule} 키를 쓰는 모든 것이 바로 멈춥니다.", "key.renew.typed": "확인을 위해 {rule} 입력",
};
