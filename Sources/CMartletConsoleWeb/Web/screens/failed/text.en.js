export default {
  "title": "Failed", "subtitle": "Sends that did not reach every device, newest first.",
  "none": "Nothing has failed", "none.text": "Devices that a send did not reach are listed here by reason, and can be retried.", "more": "Older failures", "total": { one: "1 device", other: "{n} devices" },
  "again": "Send again", "again.title": { one: "Send again to 1 device?", other: "Send again to {n} devices?" }, "again.who": "It goes only to devices that are still registered and still in the audience.", "again.once": "Each failure can be resent once.", "again.new": "It becomes a new send with the same content, 24 hours to live and a report of its own.", "again.yes": { one: "Send to 1 device", other: "Send to {n} devices" }, "resent": "Sent again", "again.taken": { one: "{done} of 1 taken", other: "{done} of {n} taken" }, "again.done": "Sent again.",
};
