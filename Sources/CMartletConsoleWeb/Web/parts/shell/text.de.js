export default {
  "language": "Sprache", "zone": "Zeitzone", "theme": "Darstellung", "theme.auto": "Wie das System", "theme.light": "Hell", "theme.dark": "Dunkel",
  "keys": "Tastenkürzel mit einzelnen Tasten", "account": "Passwort und Sitzungen", "signOut": "Abmelden", "signOut.drafts": "In diesem Browser liegen Entwürfe von Sendungen. Wer dieses Browserprofil benutzt, könnte sie lesen.", "signOut.notEnded": "Sie sind in diesem Browser abgemeldet. Der Server konnte die Sitzung nicht beenden; sie endet 12 Stunden nach der letzten Benutzung.", "signOut.delete": "Löschen und abmelden", "signOut.keep": "Behalten und abmelden",
  "key.title": "Tastenkürzel", "key.rows": "Nächste und vorige Zeile", "key.open": "Zeile öffnen", "key.list": "Diese Liste",
  "key.off": "Tastenkürzel lassen sich in Ihrem Menü abschalten.",
  "search.title": "Suchen", "search.label": "Person, Gerät, Tag oder Sendung",
  "search.help": "Name einer Person, ID einer Registrierung, Installation oder Sendung, ein Tag oder die vollständige Adresse eines Geräts.",
};
