export default {
  "title": "서버", "tab.health": "상태", "tab.operators": "운영자", "tab.users": "사용자", "tab.fetches": "가져간 기록", "tab.keys": "키", "tab.backup": "백업", "tab.audit": "감사 기록", "tab.simulator": "시뮬레이터",
  "notReady": "지금 서버가 요청을 받지 않습니다", "uptime": "가동 시간", "database": "데이터베이스", "diskFree": "디스크 여유, 예비 {reserve}", "memory": "메모리",
  "listeners": "주소", "clear": "암호화되지 않음",
  "operators.text": "콘솔에 로그인할 수 있는 사람입니다. 앱 사용자와는 다릅니다.", "invite": "초대", "you": "나", "operator.active": "활성", "operator.disabled": "사용 중지", "operator.invited": "초대됨", "neverSignedIn": "로그인한 적 없음", "signedIn": { other: "로그인 {time}, 세션 {n}개" },
  "roles": "역할", "newLink": "새 링크", "resetFactor": "2단계 인증 초기화", "endSessions": "세션 끝내기", "enable": "사용", "disable": "사용 중지", "roles.of": "{name} 역할", "roles.text": "새 역할은 바로 적용됩니다. {name} 님의 열린 세션이 끝나며 다시 로그인해야 합니다.", "save": "저장", "role": "역할", "role.add": "역할 추가", "role.removeOf": "역할 {role} 삭제", "role.where": "범위", "allHubs": "모든 허브",
  "role.viewer.long": "뷰어: 보기", "role.sender.long": "발송자: 보기와 보내기", "role.admin.long": "관리자: 모두",
  "invite.text": "15분 동안 한 번 열리는 링크가 나옵니다. 직접 전해 주세요.", "invite.again": "비밀번호를 잊었을 때 쓰는 새 링크입니다. 쓰는 순간 예전 비밀번호는 끝납니다.", "invite.for": "{name} 새 링크", "invite.yes": "링크 만들기", "invite.done": "{time}까지 한 번 쓸 수 있습니다. 여기에만 표시됩니다.", "name": "이름",
  "faults": "장애", "faults.text": "시뮬레이션 서비스에 일부러 일으키는 장애입니다. Martlet의 반응을 볼 수 있습니다.", "faults.service": "서비스", "faults.fault": "장애", "faults.next": "횟수", "faults.add": "추가", "faults.all": "모든 서비스", "faults.seen": { other: "{n}회 발생" }, "faults.clear": "모두 되돌리기", "counters": "있었던 일", "counters.none": "아직 없습니다.",
  "ready": "서버가 요청을 받고 있습니다.", "care": "인증서와 백업", "certificate": "인증서", "expires": "만료 {date}, {relative}", "certificate.none": "없음", "lastBackup": "마지막 백업", "lastBackup.none": "아직 백업이 없습니다", "listener.shared": "앱과 콘솔", "listener.proxy": "프록시용", "listener.console": "콘솔 전용", "encrypted": "암호화됨",
};
