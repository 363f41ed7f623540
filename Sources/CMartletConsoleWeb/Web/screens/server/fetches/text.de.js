export default {
  "fetches.text": "Wer Rich- und Secure-Benachrichtigungen abgerufen hat, die auf dem Server bleiben, und wer abgewiesen wurde. Die neuesten zuerst.",
  "fetches.user": "Nutzer", "fetches.payload": "Benachrichtigung", "fetches.when": "Wann", "fetches.from": "Von", "fetches.outcome": "Ergebnis", "fetches.find": "Filtern", "fetches.read": "gelesen", "fetches.refused": "abgewiesen", "fetches.more": "Die neuesten {n} zeigen",
  "fetches.none": "Keine Abrufe", "fetches.none.text": "Die Nummer einer Benachrichtigung ist die ID in ihrem Push.",
};
