export default {
  "confirm.title": "Bitte bestätige, dass du es bist",
  "confirm.text": "Hier geht es um Geheimnisse. Dein Passwort gilt für die nächsten zehn Minuten.",
  "confirm.password": "Dein Passwort",
  "confirm.yes": "Bestätigen",
  "confirm.wrong": "Das ist nicht dein Passwort.",
  "confirm.tooMany": "Zu viele Versuche. Warte eine Minute.",
};
