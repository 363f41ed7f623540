export default {
  "ended.changed": "Seine Tags wurden geändert ({time}); seitdem gehört es nicht mehr zu diesem Benutzer.", "ended.deleted": "Es wurde von der App oder über die API entfernt ({time}).", "ended.taken": "Eine andere Registrierung hat sein Handle übernommen ({time}): Das Gerät hat einen anderen Benutzer, oder die App hat sich neu registriert.",
  "ended.unregistered": "{service} hat es als nicht mehr vorhanden gemeldet ({time}): Die App wurde entfernt oder das Gerät zurückgesetzt.", "ended.moved": "Es hat ein neues Handle bekommen ({time}).", "ended.expired": "Seine Registrierung ist abgelaufen ({time}).",
  "noDevice": "{name} hat kein Gerät", "noDevice.now": "{name} hat kein Gerät mehr", "noDevice.last": "Das letzte: {what}",
  "noDevice.never": "Keine App hat in den letzten 31 Tagen ein Gerät für diesen Benutzer in diesem Hub registriert.", "noDevice.searched": "Bis {time} zurück gab es keines. Ältere Änderungen wurden nicht durchsucht.",
  "noDevice.do": "Die App registriert sich wieder, wenn der Benutzer sie öffnet. Bis dahin erreicht ihn nichts.", "noDevice.check": "Prüfen Sie Schreibweise und Hub und ob sich die App nach der Anmeldung registriert.",
};
