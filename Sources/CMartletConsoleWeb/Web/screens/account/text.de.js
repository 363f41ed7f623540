export default {
  "title": "Passwort und Sitzungen", "subtitle": "{name}: {roles}", "sessions": "Sitzungen", "sessions.text": "Hier sind Sie angemeldet. Beenden Sie unbekannte Sitzungen und ändern Sie dann Ihr Passwort.", "this": "diese", "used": "zuletzt {time} von {address}, seit {since}", "end": "Beenden",
  "password": "Passwort", "password.old": "Bisheriges Passwort", "password.new": "Neues Passwort", "password.help": "Mindestens 8 Zeichen. Ihre anderen Sitzungen werden beendet.", "password.change": "Passwort ändern", "password.done": "Das Passwort wurde geändert.",
};
