export default {
  "title": "Personen", "subtitle": "Finde die Geräte einer Person und was an sie gesendet wurde.",
  "label": "Person, Id, Tag oder Adresse", "placeholder": "alice", "find": "Finden",
  "begin": "Um wen geht es?", "begin.text": "Gib den Namen einer Person ein, die Id einer Registrierung oder Installation, ein Tag, oder die ganze Adresse eines Geräts. Was du eingibst, steht in keiner URL und keinem Protokoll.",
  "none": "Niemand gefunden", "none.text": "Prüfe Schreibweise und Hub. Geräte findet man nach dem, was sie jetzt haben; wer sich abgemeldet hat, steht hier nicht mehr, aber das Warum einer Sendung kennt die Id noch.",
  "none.viewer": "Deine Rolle findet Personen nur nach dem genauen Namen. Prüfe Schreibweise und Hub.",
  "users": "Namen, die so anfangen", "more": "Es passen noch mehr Geräte; gib etwas Genaueres ein.", "since": "seit {time}",
  "kind.native": "nativ", "kind.template": "Vorlage",
};
