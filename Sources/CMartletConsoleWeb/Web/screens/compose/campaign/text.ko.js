export default {
  "campaign.text": "이 허브에서 보낼 수 있는 모든 사람이 열어서 이어 쓸 수 있습니다.", "campaign.name": "이름", "campaign.saved": "저장됨: {name}", "save": "저장",
  "campaign.confidential": "기밀 메시지는 서버에 저장할 수 없습니다.", "campaign.wasSent": "이 캠페인은 이미 보냈습니다. 여기 있는 것은 사본입니다.", "campaign.wasSentBy": "{name} 님이 이 캠페인을 보냈습니다. 여기 있는 것은 사본입니다.", "campaign.sentBy": "{name} 님이 이 캠페인을 보냈습니다.", "campaign.goesOut": "{name} 님이 이 캠페인의 보내기를 눌렀습니다.", "campaign.gone": "이 캠페인은 삭제되었습니다. 초안은 이 브라우저에 남아 있습니다.",
  "campaign.conflict": "더 새로운 내용을 바꿀까요?", "campaign.conflict.text": "다른 사람이 이 캠페인을 수정했습니다({name}, {time}). 저장하면 내 내용으로 바뀝니다.", "campaign.conflict.yes": "바꾸기",
  "campaign.newer": "더 새로운 내용을 열까요?", "campaign.newer.text": "다른 사람이 이 캠페인을 수정했고({name}, {time}), 이 브라우저에 저장하지 않은 변경이 있습니다. 새 내용을 열면 내 변경은 사라집니다.", "campaign.newer.yes": "새 내용 열기",
};
