export default {
  "title": "실패", "subtitle": "받지 못한 기기가 있는 발송입니다. 최신순.",
  "none": "실패가 없습니다", "none.text": "발송을 받지 못한 기기가 이유별로 나오며, 다시 보낼 수 있습니다.", "more": "이전 실패", "total": { other: "기기 {n}대" },
  "again": "다시 보내기", "again.title": { other: "기기 {n}대에 다시 보낼까요?" }, "again.who": "아직 등록되어 있고 대상에 속하는 기기에만 갑니다.", "again.once": "실패마다 한 번만 다시 보낼 수 있고, 두 번째는 거부됩니다.", "again.new": "내용이 같은 새 발송이며, 24시간 기한과 보고서를 따로 가집니다.", "again.yes": { other: "기기 {n}대에 보내기" }, "again.done": "다시 보냈습니다.",
  "reason.ExpiredChannel": "사라진 기기라 다시 보내도 대개 소용없습니다.", "reason.BadChannel": "주소가 올바르지 않습니다. 앱이 다시 등록해야 합니다.", "reason.WrongToken": "다른 앱이나 다른 발신자의 기기입니다.", "reason.InvalidNotificationSize": "너무 큽니다. 줄여야 합니다.", "reason.InvalidNotificationFormat": "푸시 서비스가 이해하지 못했습니다.",
  "reason.PnsUnavailable": "푸시 서비스가 멈춰 있었습니다. 다시 보내면 됩니다.", "reason.PnsUnreachable": "푸시 서비스에 닿지 않았습니다. 다시 보내면 됩니다.", "reason.InvalidCredentials": "먼저 인증 정보를 바꾼 뒤 다시 보내세요.", "reason.NoPushService": "먼저 인증 정보를 설정한 뒤 다시 보내세요.", "reason.AbandonedNotificationMessages": "차례가 오기 전에 만료되었습니다.", "reason.Throttled": "푸시 서비스가 속도를 제한했습니다. 다시 보내면 됩니다.",
};
