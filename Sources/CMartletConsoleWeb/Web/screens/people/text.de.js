export default {
  "title": "Personen", "subtitle": "Finden Sie die Geräte einer Person und was an sie gesendet wurde.",
  "label": "Person, ID, Tag oder Adresse", "placeholder": "alice", "find": "Suchen",
  "begin": "Um wen geht es?", "begin.text": "Geben Sie den Namen einer Person ein, die ID einer Registrierung oder Installation, ein Tag oder die vollständige Adresse eines Geräts. Ihre Eingabe erscheint in keiner URL und keinem Protokoll.",
  "none": "Niemand gefunden", "none.text": "Prüfen Sie Schreibweise und Hub. Gesucht wird nach dem jetzigen Stand. Abgemeldete Geräte finden Sie über ihre ID auf der Seite einer Sendung.",
  "none.viewer": "Mit Ihrer Rolle finden Sie Personen nur über den genauen Namen. Prüfen Sie Schreibweise und Hub.",
  "users": "Namen mit diesem Anfang", "more": "Weitere Geräte passen. Suchen Sie genauer.", "since": "seit {time}",
  "kind.native": "nativ", "kind.template": "Vorlage",
};
