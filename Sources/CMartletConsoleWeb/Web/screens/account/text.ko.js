export default {
  "title": "비밀번호와 세션", "subtitle": "{name}: {roles}", "sessions": "세션", "sessions.text": "로그인되어 있는 곳입니다. 모르는 것은 끝내고 비밀번호를 바꾸세요.", "this": "현재 세션", "used": "{time} 사용, 주소 {address}, 시작 {since}", "end": "끝내기",
  "password": "비밀번호", "password.old": "현재 비밀번호", "password.new": "새 비밀번호", "password.help": "8자 이상이어야 합니다. 다른 세션은 끝납니다.", "password.change": "비밀번호 바꾸기", "password.done": "비밀번호를 바꿨습니다.",
};
