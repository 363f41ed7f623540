export default {
  "users.text": "이 서버의 앱 백엔드에 로그인하는 사용자입니다. 콘솔 운영자와는 다릅니다.", "users.prefix": "이름의 앞부분", "users.find": "찾기", "users.more": "사용자 더 보기",
  "users.none": "아직 사용자가 없습니다", "users.none.text": "‘martlet user add NAME’으로 추가합니다. 인증 서비스의 사용자는 여기에 없습니다.", "users.noMatch": "이렇게 시작하는 이름이 없습니다",
  "users.devices": "기기", "users.devicesOf": "{name} 기기", "users.account": "계정", "users.accountOf": "{name} 계정",
  "users.made": "추가일", "users.sessions": "세션", "users.noRoles": "없음", "users.give": "추가",
  "users.renew": "새 비밀번호", "users.renew.text": "{name} 님의 예전 비밀번호를 쓸 수 없게 되고 모든 세션이 끝납니다.", "users.renewed": "{name} 님의 새 비밀번호입니다. 다시 표시되지 않습니다. 직접 전해 주세요.",
  "users.remove": "사용자 삭제", "users.remove.text": "세션이 끝나고 기기가 삭제됩니다. 되돌릴 수 없습니다.", "users.typed": "확인하려면 {name} 입력",
};
