export default {
  "user.former": "이전 기기", "user.sends": "{name} 대상 발송", "user.none": "최근 이 기기들에 보낸 발송이 없습니다.", "user.lookedBack": "{time}까지 찾아봄", "user.further": "더 이전 찾기",
};
