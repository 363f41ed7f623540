export default {
  "confirm.title": "본인 확인이 필요합니다",
  "confirm.text": "비밀 정보를 보거나 바꾸는 일입니다. 비밀번호를 확인하면 10분 동안 유효합니다.",
  "confirm.password": "비밀번호",
  "confirm.yes": "확인",
  "confirm.wrong": "비밀번호가 맞지 않습니다.",
  "confirm.tooMany": "시도가 너무 많습니다. 1분 뒤에 다시 시도하세요.",
};
