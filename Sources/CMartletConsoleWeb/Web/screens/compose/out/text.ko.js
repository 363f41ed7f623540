export default {
  "test.title": "시험 발송", "test.text": "최대 기기 10대에 바로 보냅니다. 다른 기기는 받지 않습니다.", "test.to": "시험 대상 식", "test.send": "시험 발송", "test.running": "보내는 중", "test.nobody": "이 식에 맞는 기기가 없습니다.",
  "isJSON": "내용이 JSON입니다", "isJSON.text": "사람들에게 괄호와 따옴표가 그대로 보입니다. 그래도 보낼까요?", "isJSON.yes": "그대로 보내기",
  "sure": { other: "기기 {n}대에 보낼까요?" }, "sure.everybody": "이 허브의 모든 기기에 보냅니다.", "sure.text": "10초가 지나면 되돌릴 수 없습니다.", "sure.typed": "확인을 위해 {number} 입력",
  "undo.leaving": "곧 발송됩니다.", "undo": "되돌리기", "undo.left": "{n}초 뒤 기기 {devices}대에 나갑니다", "undo.first": "{n}초 뒤 {devices}대 중 처음 {first}대에 보냅니다", "undo.told": "10초 뒤에 나갑니다. 되돌리기로 취소할 수 있습니다.", "undone": "되돌렸습니다. 아무도 받지 않았습니다.", "undo.late": "이미 시작되어 나머지를 중지했습니다.", "scheduled": "예약했습니다: {time}.",
  "another": "다른 메시지 쓰기", "undo.trying": "아직 되돌리지 못했습니다. 다시 시도합니다.", "undo.running": "되돌리는 중", "undo.over": "되돌리기가 늦었습니다. 이미 발송되었습니다.", "undo.due": "발송할 시각입니다. 이미 시작되었을 수 있습니다.",
  "sending.asking": "서버에 발송을 요청하는 중", "sending.unknown": "서버가 이 발송을 접수했는지 알 수 없습니다. 다시 시도합니다.", "sending.looking": "서버가 이 발송을 접수했는지 알 수 없습니다. 찾고 있습니다.", "sending.notFound": "그런 발송을 찾지 못했습니다. 다시 보내기 전에 발송 목록을 확인하세요.", "sending.past": "발송할 시각입니다. 시작되었는지 서버의 답을 기다립니다.", "sending.noAnswer": "서버가 답하지 않습니다. 다시 시도합니다.",
  "sending.sent": "발송되었습니다.", "sending.none": "아무것도 발송되지 않았습니다.", "sending.gone": "서버에 이 발송이 없습니다. 허브가 삭제되었을 수 있습니다.", "sending.clash": "이미 접수된 발송이 있으나 어느 것인지 알 수 없습니다. 다시 보내기 전에 발송 목록을 확인하세요.",
  "goesOn": { other: "기기 {n}대로 가는 발송이 {time}에 나갑니다. 지금 역할로는 되돌릴 수 없습니다. 이 허브에서 보낼 수 있는 사람이 중지할 수 있습니다:" }, "goesOn.begun": { other: "기기 {n}대로 가는 발송이 이미 시작되었을 것입니다. 지금 역할로는 중지할 수 없습니다. 이 허브에서 보낼 수 있는 사람이 나머지를 중지할 수 있습니다:" },
};
