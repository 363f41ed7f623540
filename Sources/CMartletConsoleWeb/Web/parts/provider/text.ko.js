export default {
  "confirm.title": "본인 확인이 필요합니다",
  "confirm.text": "새 탭에서 본인 확인을 합니다: {name}. 확인은 10분 동안 유효하며, 이 화면은 그대로 남습니다.",
  "confirm.go": "계속: {name}",
  "confirm.other": "다른 계정입니다. 본인 계정을 사용하세요.",
  "confirm.notAsked": "본인 확인을 하지 않았거나 확인 시각을 알리지 않았습니다: {name}.",
  "confirm.unavailable": "제대로 응답하지 않습니다: {name}. 나중에 다시 시도하세요.",
};
