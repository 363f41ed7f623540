export default {
  "title": "캠페인", "subtitle": "팀이 함께 쓰는 초안과 그 초안으로 보낸 발송입니다.", "draft": "초안", "sent": "보냄", "socket": "관리 소켓", "changed": "수정: {time}, {name}", "older": "이전 캠페인",
  "none": "아직 캠페인이 없습니다", "none.text": "새 발송을 만들고 ‘캠페인으로 저장’을 선택하세요. 이 허브에서 보낼 수 있는 모든 사람이 이어서 작성할 수 있습니다.",
  "none.viewer": "이 허브에서 보낼 수 있는 사람이 초안을 캠페인으로 저장하면 여기에 나옵니다.",
  "delete": "삭제", "delete.of": "{name} 삭제", "delete.title": "{name}: 삭제할까요?", "delete.draft": "모든 사람에게서 초안이 사라집니다.", "delete.sent": "이름만 삭제됩니다. 발송과 보고서는 남습니다.",
};
