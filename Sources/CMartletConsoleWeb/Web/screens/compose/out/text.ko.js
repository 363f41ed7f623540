export default {
  "test.title": "시험 발송", "test.text": "최대 기기 10대에 바로 보냅니다. 다른 기기는 받지 않습니다.", "test.to": "시험 대상 식", "test.send": "시험 발송", "test.running": "보내는 중", "test.nobody": "이 식에 맞는 기기가 없습니다.",
  "isJSON": "내용이 JSON입니다", "isJSON.text": "사람들에게 괄호와 따옴표가 그대로 보입니다. 그래도 보낼까요?", "isJSON.yes": "그대로 보내기",
  "sure": { other: "기기 {n}대에 보낼까요?" }, "sure.everybody": "이 허브의 모든 기기에 보냅니다.", "sure.text": "10초가 지나면 되돌릴 수 없습니다.", "sure.typed": "확인을 위해 {number} 입력",
  "undo.leaving": "곧 발송됩니다.", "undo": "되돌리기", "undo.left": "{n}초 뒤 기기 {devices}대에 나갑니다", "undo.first": "{n}초 뒤 {devices}대 중 처음 {first}대에 보냅니다", "undo.told": "10초 뒤에 나갑니다. 되돌리기로 취소할 수 있습니다.", "undone": "되돌렸습니다. 아무도 받지 않았습니다.", "undo.late": "이미 시작되어 나머지를 중지했습니다.", "scheduled": "예약했습니다: {time}.",
};
