export default {
  "confirm.title": "본인 확인이 필요합니다",
  "confirm.text": "비밀 정보를 보거나 바꾸는 일입니다. 비밀번호를 확인하면 10분 동안 유효합니다.",
  "confirm.password": "비밀번호",
  "confirm.yes": "확인",
  "confirm.wrong": "비밀번호가 맞지 않습니다.",
  "confirm.tooMany": "시도가 너무 많습니다. 1분 뒤에 다시 시도하세요.",
  "command.martlet": "서버 컴퓨터에서 실행합니다. 데이터 디렉터리는 --data로 지정합니다.",
  "command.hub": "어디서나 실행합니다. TOKEN은 허브의 연결 문자열로 만든 공유 액세스 서명입니다.",
  "command.socket": "서버 컴퓨터의 데이터 디렉터리에서 실행합니다.",
};
