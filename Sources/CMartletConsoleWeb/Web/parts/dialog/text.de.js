export default {
  "confirm.title": "Bitte bestätigen Sie Ihre Identität",
  "confirm.text": "Hier geht es um geschützte Daten. Die Bestätigung gilt zehn Minuten.",
  "confirm.password": "Ihr Passwort",
  "confirm.yes": "Bestätigen",
  "confirm.wrong": "Das Passwort ist falsch.",
  "confirm.tooMany": "Zu viele Versuche. Bitte warten Sie eine Minute.",
  "command.martlet": "Auf dem Rechner des Servers. --data nennt das Datenverzeichnis.",
  "command.hub": "Von überall. TOKEN ist eine Shared Access Signature aus einer Verbindungszeichenfolge des Hubs.",
  "command.socket": "Auf dem Rechner des Servers, im Datenverzeichnis.",
};
