export default {
  "who": "받지 못한 이유 찾기: 사용자 이름 또는 기기 ID", "who.go": "이유 보기", "who.more": { other: "나머지 기기 {n}대는 사람에서 볼 수 있습니다." },
};
