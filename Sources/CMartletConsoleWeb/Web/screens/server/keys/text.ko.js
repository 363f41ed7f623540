export default {
  "keys.text": "데이터베이스의 비밀은 이 중 가장 새로운 키로 암호화됩니다. 키 자체는 secret.key 또는 서버가 키를 읽는 곳에 있으며 표시되지 않습니다.",
  "keys.newest": "사용 중", "keys.older": "이전", "keys.left": { other: "비밀 {n}개가 아직 이전 키로 암호화되어 있습니다." }, "keys.reseal": "새 키로 암호화", "keys.working": "비밀을 다시 암호화하고 있습니다. 서버는 계속 동작합니다.",
  "keys.rotate": "새 키", "keys.rotate.text": "새 키를 만들고 모든 비밀을 그 키로 암호화합니다. 예전 백업에는 이전 키가 계속 필요합니다. 끝나면 secret.key를 안전한 곳에 다시 복사해 두세요.",
  "keys.retire": "이전 키 삭제", "keys.retire.text": "이전 키로만 열리는 백업은 읽을 수 없게 됩니다.", "keys.retire.typed": "확인하려면 {word} 입력",
};
