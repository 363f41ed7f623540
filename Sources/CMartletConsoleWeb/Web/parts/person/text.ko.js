export default {
  "ended.changed": "태그가 바뀌어 더 이상 이 사용자의 기기가 아닙니다 ({time}).", "ended.deleted": "앱 또는 API를 통해 삭제되었습니다 ({time}).", "ended.taken": "다른 등록이 핸들을 넘겨받았습니다 ({time}). 기기의 사용자가 바뀌었거나 앱이 새로 등록한 것입니다.",
  "ended.unregistered": "{service}: 기기가 사라졌다고 알림 ({time}). 앱이 삭제되었거나 기기가 초기화된 것입니다.", "ended.moved": "새 핸들을 받았습니다 ({time}).", "ended.expired": "등록이 만료되었습니다 ({time}).",
  "noDevice": "기기 없음: {name}", "noDevice.now": "지금은 기기가 없음: {name}", "noDevice.last": "마지막 기기: {what}",
  "noDevice.never": "최근 31일 동안 이 허브에 이 사용자의 기기를 등록한 앱이 없습니다.", "noDevice.searched": "{time}까지 찾아보았지만 없었습니다. 그 이전의 변경은 찾아보지 않았습니다.",
  "noDevice.do": "사용자가 앱을 열면 다시 등록됩니다. 그때까지 이 사용자에게는 아무것도 가지 않습니다.", "noDevice.check": "철자와 허브를 확인하고, 앱이 로그인 후 등록하는지 확인하세요.",
};
