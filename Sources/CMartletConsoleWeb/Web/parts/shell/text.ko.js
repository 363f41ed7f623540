export default {
  "language": "언어", "zone": "시간대", "theme": "화면 모드", "theme.auto": "시스템 설정", "theme.light": "밝게", "theme.dark": "어둡게",
  "keys": "단축키 사용", "account": "비밀번호와 세션", "signOut": "로그아웃", "signOut.drafts": "이 브라우저에 발송 초안이 남아 있습니다. 이 브라우저 프로필을 쓰는 사람이 읽을 수 있습니다.", "signOut.notEnded": "이 브라우저에서 로그아웃했습니다. 서버가 세션을 끝내지 못했습니다. 세션은 마지막 사용 12시간 뒤에 끝납니다.", "signOut.delete": "삭제하고 로그아웃", "signOut.keep": "남겨 두고 로그아웃",
  "key.title": "단축키", "key.rows": "다음 줄, 이전 줄", "key.open": "줄 열기", "key.list": "이 목록",
  "key.off": "단축키는 사용자 메뉴에서 끌 수 있습니다.",
  "search.title": "검색", "search.label": "사용자, 기기, 태그 또는 발송",
  "search.help": "사용자 이름, 등록·설치·발송 ID, 태그, 또는 기기의 전체 핸들을 입력하세요.",
};
