export default {
  "language": "언어", "zone": "시간대", "theme": "화면 모드", "theme.auto": "시스템 설정", "theme.light": "밝게", "theme.dark": "어둡게",
  "keys": "단축키 사용", "account": "비밀번호와 세션", "signOut": "로그아웃", "signOut.drafts": "이 브라우저에 발송 초안이 남아 있습니다. 여기서 다음에 로그인하는 사람이 열 수 있습니다.", "signOut.delete": "삭제하고 로그아웃", "signOut.keep": "남겨 두고 로그아웃",
  "key.title": "단축키", "key.rows": "다음 줄, 이전 줄", "key.open": "줄 열기", "key.list": "이 목록",
  "key.off": "단축키는 사용자 메뉴에서 끌 수 있습니다.",
  "search.title": "검색", "search.label": "사용자, 기기, 태그 또는 발송",
  "search.help": "사용자 이름, 등록·설치·발송 ID, 태그, 또는 기기의 전체 핸들을 입력하세요.",
};
