export default {
  "campaign.text": "Alle, die in diesem Hub senden dürfen, können sie öffnen und fortsetzen.", "campaign.name": "Name", "campaign.saved": "Gespeichert: {name}", "save": "Speichern",
  "campaign.confidential": "Eine vertrauliche Nachricht kann nicht auf dem Server gespeichert werden.", "campaign.wasSent": "Diese Kampagne wurde gesendet. Dies ist eine Kopie.", "campaign.wasSentBy": "{name} hat diese Kampagne gesendet. Dies ist eine Kopie.", "campaign.sentBy": "{name} hat diese Kampagne gesendet.", "campaign.goesOut": "{name} hat bei dieser Kampagne auf „Senden“ gedrückt.", "campaign.gone": "Diese Kampagne wurde gelöscht. Der Entwurf ist noch in diesem Browser.",
  "campaign.conflict": "Neuere Fassung ersetzen?", "campaign.conflict.text": "{name} hat diese Kampagne geändert ({time}). Ihre Fassung würde sie ersetzen.", "campaign.conflict.yes": "Ersetzen",
  "campaign.newer": "Neuere Fassung öffnen?", "campaign.newer.text": "{name} hat diese Kampagne geändert ({time}), und Sie haben in diesem Browser Änderungen, die nicht gespeichert sind. Wenn Sie die neuere Fassung öffnen, gehen Ihre verloren.", "campaign.newer.yes": "Neuere Fassung öffnen",
};
