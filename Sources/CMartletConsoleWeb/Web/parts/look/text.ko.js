export default {
  "look.unknown": "내용만으로는 무엇이 표시될지 알 수 없습니다.", "look.silent": "앱을 깨우기만 하고 표시하지 않습니다", "look.now": "지금", "look.nothing": "내용 없음",
  "look.byApp": "앱이 직접 그리므로 다르게 보일 수 있습니다.", "look.badge": "배지", "look.picture": "이미지:", "look.link": "열리는 주소:",
  "caution.actionsNeedTheSDK": "버튼은 앱에 SDK가 있어야 합니다.", "caution.subtitleNotShown": "부제목은 표시되지 않습니다.", "caution.badgeNotShown": "배지는 표시되지 않습니다.",
  "caution.textIsCutAfterLines": "열기 전에는 글이 잘립니다.", "caution.wakesOnly": "아무것도 표시되지 않습니다.", "caution.soundIsTheChannels": "소리는 기기 설정을 따릅니다.",
};
