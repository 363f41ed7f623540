export default {
  "backup.text": "Im Verzeichnis „backups“ der Serverdaten, ohne die Schlüssel des Servers. Die neuesten {n} werden aufbewahrt. Kopieren Sie sie auf einen anderen Rechner und bewahren Sie secret.key getrennt davon auf.",
  "backup.make": "Jetzt sichern", "backup.making": "Sicherung läuft: {size} geschrieben. Der Server arbeitet weiter.", "backup.verifying": "{name} wird gelesen", "backup.failed": "Der letzte Vorgang wurde nicht abgeschlossen", "backup.none": "Noch keine Sicherung", "backup.none.text": "Eine Sicherung enthält Hubs, Geräte, Sendungen und Benutzer. Sie zählt erst, wenn sie gelesen und geprüft ist.",
  "backup.whole": "Geprüft", "backup.damaged": "Beschädigt", "backup.unread": "Nicht geprüft", "backup.beforeUpgrade": "vor einem Upgrade", "backup.verify": "Prüfen", "backup.verifyOf": "Sicherung von {time} prüfen", "backup.download": "Herunterladen", "backup.downloadOf": "Sicherung von {time} herunterladen",
};
