export default {
  "title": "대기", "subtitle": "예약된 시각을 기다리는 발송입니다. 시간대 {zone}.", "tab.all": "전체", "tab.waiting": "대기", "tab.failed": "실패",
  "none": "기다리는 발송이 없습니다", "none.text": "나중으로 예약한 발송이 날짜별로 나오며, 그때까지 바꾸거나 거둘 수 있습니다.", "confidential": "기밀", "sendOf": "발송 {id}",
  "change": "변경", "change.title": "다른 시각에 보내기", "change.time": "날짜와 시각, {zone}", "change.none": "시계가 건너뛰는 시각입니다.", "change.yes": "변경", "change.done": "바꿨습니다.", "change.withheld": "지금 역할로는 내용을 볼 수 없어 시각을 바꿀 수 없습니다.",
  "withdraw": "거두기", "withdraw.title": "이 발송을 거둘까요?", "withdraw.text": "아무도 받지 않습니다. 되살릴 수는 없지만 복사해서 새로 보낼 수 있습니다.", "withdraw.done": "거뒀습니다. 아무도 받지 않습니다.",
};
