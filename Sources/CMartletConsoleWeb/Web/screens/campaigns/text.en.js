export default {
  "title": "Campaigns", "subtitle": "Drafts that your team shares, and what was sent from them.", "draft": "Draft", "sent": "Sent", "socket": "the admin socket", "changed": "changed {time} by {name}", "older": "Older campaigns",
  "none": "No campaigns yet", "none.text": "Start a new send and choose \"Save as campaign\": everyone who may send in this hub can continue it.",
  "none.viewer": "Whoever may send in this hub can save a draft as a campaign. It is then listed here.",
  "delete": "Delete", "delete.of": "Delete {name}", "delete.title": "Delete {name}?", "delete.draft": "The draft is gone for everyone.", "delete.sent": "Only the name is deleted. The send and its report stay.",
};
