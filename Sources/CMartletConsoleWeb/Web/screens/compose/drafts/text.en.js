export default {
  "drafts": { one: "Another draft is kept in this browser:", other: "{n} other drafts are kept in this browser:" }, "drafts.sending": "is being sent", "drafts.sent": "was sent", "drafts.open": "Open", "drafts.discard": "Discard",
};
