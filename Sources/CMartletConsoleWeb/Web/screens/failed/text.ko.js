export default {
  "title": "실패", "subtitle": "받지 못한 기기가 있는 발송입니다. 최신순.",
  "none": "실패가 없습니다", "none.text": "발송을 받지 못한 기기가 이유별로 나오며, 다시 보낼 수 있습니다.", "more": "이전 실패", "total": { other: "기기 {n}대" },
  "again": "다시 보내기", "again.title": { other: "기기 {n}대에 다시 보낼까요?" }, "again.who": "아직 등록되어 있고 대상에 속하는 기기에만 갑니다.", "again.once": "실패마다 한 번만 다시 보낼 수 있고, 두 번째는 거부됩니다.", "again.new": "내용이 같은 새 발송이며, 24시간 기한과 보고서를 따로 가집니다.", "again.yes": { other: "기기 {n}대에 보내기" }, "resent": "다시 보냄", "again.taken": { other: "{n}건 중 {done}건 접수" }, "again.done": "다시 보냈습니다.",
};
