export default {
  "edit": "편집",
  "title": "대기 중인 발송", "subtitle": "시간대는 {zone}입니다.", "form": "보기 방식", "form.agenda": "목록", "form.month": "월",
  "held": "보류 중", "none": "예약된 발송이 없습니다", "none.text": "나중에 보낼 발송을 날짜별로 보여 줍니다. 보내기 전까지 변경하거나 취소할 수 있습니다.",
  "month.none": "이 날에는 예약된 발송이 없습니다.", "month.count": { other: "발송 {n}건" }, "month.before": "이전 달", "month.after": "다음 달", "month.today": "오늘",
  "change": "시각 변경", "change.title": "다른 시각에 보내기", "change.time": "날짜와 시각, {zone}", "change.none": "시간 변경으로 없는 시각입니다.", "change.past": "이미 지난 시각입니다.", "change.done": "변경했습니다.", "change.withheld": "현재 역할로는 내용을 볼 수 없어 시각을 변경할 수 없습니다.",
  "now": "지금 보내기", "now.title": "지금 보낼까요?", "now.text": "{n}초 뒤에 발송됩니다. 그 전까지는 발송 화면에서 중지할 수 있습니다.",
  "withdraw": "예약 취소", "withdraw.title": "이 예약을 취소할까요?", "withdraw.text": "아무도 받지 않습니다. 나중에 복사해서 새로 보낼 수 있습니다.", "withdraw.done": "예약을 취소했습니다. 아무도 받지 않습니다.",
};
