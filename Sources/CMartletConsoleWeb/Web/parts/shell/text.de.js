export default {
  "language": "Sprache", "zone": "Zeitzone", "theme": "Aussehen", "theme.auto": "Wie das System", "theme.light": "Hell", "theme.dark": "Dunkel",
  "keys": "Kürzel mit einzelnen Tasten", "account": "Passwort und Sitzungen", "signOut": "Abmelden",
  "key.title": "Tasten", "key.rows": "Nächste und vorige Zeile", "key.open": "Zeile öffnen", "key.list": "Diese Liste",
  "key.off": "Einzelne Tasten lassen sich in deinem Menü abschalten.",
  "search.title": "Suchen", "search.label": "Person, Gerät, Tag oder Sendung",
  "search.help": "Der Name einer Person, die Id einer Registrierung, Installation oder Sendung, ein Tag oder die ganze Adresse eines Geräts.",
};
