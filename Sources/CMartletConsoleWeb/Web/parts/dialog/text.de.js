export default {
  "confirm.title": "Bitte bestätigen Sie Ihre Identität",
  "confirm.text": "Hier geht es um geschützte Daten. Die Bestätigung gilt zehn Minuten.",
  "confirm.password": "Ihr Passwort",
  "confirm.yes": "Bestätigen",
  "confirm.wrong": "Das Passwort ist falsch.",
  "confirm.tooMany": "Zu viele Versuche. Bitte warten Sie eine Minute.",
};
