export default {
  "backup.text": "서버 데이터의 ‘backups’ 디렉터리에 저장하며 서버 키는 들어 있지 않습니다. 최근 {n}개를 보관합니다. 다른 컴퓨터에 복사해 두고 secret.key는 따로 보관하세요.",
  "backup.make": "지금 백업", "backup.making": "백업 중: {size} 기록됨. 서버는 계속 동작합니다.", "backup.verifying": "{name} 확인 중", "backup.failed": "마지막 작업을 마치지 못했습니다", "backup.none": "아직 백업이 없습니다", "backup.none.text": "백업에는 허브, 기기, 발송, 사용자가 들어 있습니다. 다시 읽어 확인한 뒤에 완료됩니다.",
  "backup.whole": "확인됨", "backup.damaged": "손상됨", "backup.unread": "확인 안 됨", "backup.beforeUpgrade": "업그레이드 전", "backup.verify": "확인", "backup.verifyOf": "{time} 백업 확인", "backup.download": "내려받기", "backup.downloadOf": "{time} 백업 내려받기",
};
