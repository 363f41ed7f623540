export default {
  "title": "Kampagnen", "subtitle": "Entwürfe, die Ihr Team teilt, und was daraus gesendet wurde.", "draft": "Entwurf", "sent": "Gesendet", "socket": "Admin-Socket", "changed": "geändert {time}, {name}", "older": "Ältere Kampagnen",
  "none": "Noch keine Kampagnen", "none.text": "Beginnen Sie eine neue Sendung und wählen Sie „Als Kampagne speichern“: Alle, die in diesem Hub senden dürfen, können sie fortsetzen.",
  "none.viewer": "Wer in diesem Hub senden darf, kann einen Entwurf als Kampagne speichern. Er steht dann hier.",
  "delete": "Löschen", "delete.of": "{name} löschen", "delete.title": "{name} löschen?", "delete.draft": "Der Entwurf wird für alle gelöscht.", "delete.sent": "Nur der Name wird gelöscht. Die Sendung und ihr Bericht bleiben.",
};
