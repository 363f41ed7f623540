export default {
  "field.variables": "변수", "help.variables": "본문의 $(name)은 앱이 기기별로 알린 값, 없으면 기본값으로 바뀝니다.", "add.variables": "변수 추가", "variables.default": "기본값", "field.actions": "버튼", "add.actions": "버튼 추가", "actions.title": "제목", "actions.link": "링크", "actions.id": "앱에서 쓸 ID", "actions.remove": "이 버튼 삭제", "problem.actions": "버튼에는 제목이 필요하고, 링크는 전체 주소여야 합니다.",
  "field.picture": "이미지", "field.sound": "소리", "field.priority": "우선순위", "field.badge": "배지", "field.collapse": "Collapse key", "field.data": "앱에 전할 데이터",
  "field.confidential": "기밀: 나중에 누구도 내용을 볼 수 없습니다", "field.silent": "무음: 앱을 깨우기만 하고 표시하지 않습니다",
  "help.badge": "숫자 또는 +1.", "help.collapse": "같은 키의 더 새로운 메시지가 이 메시지를 대신합니다.",
  "sound.default": "기본", "sound.none": "없음", "priority.normal": "보통", "priority.high": "높음", "priority.low": "낮음",
  "data.name": "이름", "data.value": "값", "add.data": "항목 추가", "data.remove": "이 항목 삭제",
  "problem.picture": "이미지 주소는 https:// 로 시작해야 합니다.", "problem.badge": "99,999 이하의 숫자 또는 +1.", "problem.collapse": "공백 없이 최대 64자의 글자, 숫자, 기호.",
};
