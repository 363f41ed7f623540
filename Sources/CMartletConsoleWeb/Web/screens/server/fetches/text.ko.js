export default {
  "fetches.text": "서버에 남아 있는 리치·보안 알림을 누가 가져갔고 누가 거부되었는지 보여 줍니다. 최신순입니다.",
  "fetches.user": "사용자", "fetches.payload": "알림", "fetches.when": "시각", "fetches.from": "주소", "fetches.outcome": "결과", "fetches.find": "거르기", "fetches.read": "읽음", "fetches.refused": "거부됨", "fetches.more": "최근 {n}개 보기",
  "fetches.none": "가져간 기록이 없습니다", "fetches.none.text": "알림 번호는 푸시에 있는 ID입니다.",
};
