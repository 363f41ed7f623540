export default {
  "drafts": { one: "In diesem Browser liegt noch ein Entwurf:", other: "In diesem Browser liegen noch {n} Entwürfe:" }, "drafts.sending": "wird gesendet", "drafts.sent": "wurde gesendet", "drafts.open": "Öffnen", "drafts.discard": "Verwerfen",
};
