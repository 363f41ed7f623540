export default {
  "title": "첫 알림 보내기", "subtitle": "세 단계, 약 2분이면 됩니다.", "notAdmin": "이 단계는 관리자만 할 수 있습니다. 지금은 보기만 할 수 있습니다.", "done": "완료",
  "step.hub": "허브", "step.hub.text": "허브는 앱 하나의 공간입니다. 기기, 태그, 키가 들어 있습니다.", "hub.name": "허브 이름", "hub.make": "만들기",
  "step.device": "기기", "step.device.text": "이 컴퓨터에서 만든 가상 휴대폰, 또는 지금 이 브라우저.", "device.makePhone": "가상 휴대폰 만들기", "device.useBrowser": "이 브라우저로 받기", "device.other": "다른 기기 쓰기",
  "device.note": "어느 쪽이든 계정이 필요 없습니다. 브라우저 푸시는 브라우저 제조사의 푸시 서비스를 거칩니다.", "device.phone": "가상 휴대폰", "device.browser": "이 브라우저",
  "step.push": "푸시", "step.push.text": "글을 쓰고 보내 보세요.", "push.hello": "Martlet에서 인사드립니다", "push.label": "내용", "push.send": "보내기", "push.underWay": "가는 중", "push.arrived": "도착했습니다.", "push.arrivedIn": "도착까지 {time}.", "push.why": "지나온 길 보기",
  "phone.none": "여기에 기기가 나타납니다.", "phone.ready": "준비되었습니다. 이제 보내 보세요.",
  "browser.cannot": "이 브라우저에서는 Web Push를 쓸 수 없습니다. 가상 휴대폰을 만드세요.", "browser.denied": "브라우저가 이 주소의 알림을 허용하지 않습니다. 허용하거나 가상 휴대폰을 만드세요.", "browser.noKey": "이 허브에는 직접 설정한 Web Push 키가 있습니다. 가상 휴대폰을 만드세요.", "browser.unreachable": "브라우저가 제조사의 푸시 서비스에 연결하지 못합니다. 인터넷이 없으면 가상 휴대폰을 만드세요.",
  "then": "다음으로", "then.credentials": "실제 푸시 서비스 연결", "then.credentials.text": "APNs 키, FCM 계정", "then.app": "앱 연결", "then.app.text": "연결 문자열과 SDK별 코드", "then.invite": "동료 초대", "then.invite.text": "뷰어, 발송자, 관리자", "then.campaign": "첫 캠페인 작성", "then.campaign.text": "미리보기, 검사, 되돌릴 시간",
};
