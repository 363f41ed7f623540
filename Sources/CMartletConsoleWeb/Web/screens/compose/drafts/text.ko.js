export default {
  "drafts": { other: "이 브라우저에 다른 초안 {n}개가 있습니다:" }, "drafts.sending": "발송 중", "drafts.sent": "발송됨", "drafts.open": "열기", "drafts.discard": "버리기",
};
