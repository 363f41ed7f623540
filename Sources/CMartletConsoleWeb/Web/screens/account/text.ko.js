export default {
  "title": "비밀번호와 세션", "subtitle": "{name}: {roles}", "sessions": "세션", "sessions.text": "로그인되어 있는 곳입니다. 모르는 것은 끝내고 비밀번호를 바꾸세요.", "this": "현재 세션", "used": "{time} 사용, 주소 {address}, 시작 {since}", "end": "끝내기",
  "password": "비밀번호", "password.old": "현재 비밀번호", "password.new": "새 비밀번호", "password.help": "8자 이상이어야 합니다. 다른 세션은 끝납니다.", "password.change": "비밀번호 바꾸기", "password.done": "비밀번호를 바꿨습니다.",
  "factor": "2단계 인증", "factor.off": "꺼짐: 비밀번호만으로 로그인합니다.", "factor.on": { other: "켜짐. 복구 코드가 {n}개 남았습니다." }, "factor.begin": "설정", "factor.secret": "인증 앱으로 QR 코드를 스캔하거나, 이 비밀 키를 직접 입력하거나, 앱이 있는 휴대폰에서 링크를 여세요. 그런 다음 앱에 표시되는 숫자 6자리를 입력하세요.", "factor.qr": "인증 앱용 QR 코드", "factor.confirm": "켜기", "factor.remove": "끄기", "factor.code": "인증 코드", "factor.codes": "2단계 인증을 켰습니다. 복구 코드를 보관하세요. 휴대폰을 잃어버렸을 때 코드 대신 한 번씩 쓸 수 있으며, 다시 표시되지 않습니다.",
};
