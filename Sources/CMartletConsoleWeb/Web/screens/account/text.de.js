export default {
  "title": "Passwort und Sitzungen", "subtitle": "{name}: {roles}", "sessions": "Sitzungen", "sessions.text": "Wo du angemeldet bist. Beende, was du nicht kennst, und ändere dann dein Passwort.", "this": "diese", "used": "benutzt {time} von {address}, seit {since}", "end": "Beenden",
  "password": "Passwort", "password.old": "Jetziges Passwort", "password.new": "Neues Passwort", "password.help": "Mindestens 8 Zeichen. Deine anderen Sitzungen enden.", "password.change": "Passwort ändern", "password.done": "Das Passwort ist geändert.",
};
