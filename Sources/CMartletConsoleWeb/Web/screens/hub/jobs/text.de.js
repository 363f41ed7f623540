export default {
  "jobs.none": "Noch keine Aufträge", "jobs.none.text": "Hier erscheinen Importe und Exporte von Registrierungen. Sie beginnen mit „martlet import“, „martlet export“ oder über die API des Hubs.", "jobs.text": "Importe und Exporte von Registrierungen, die neuesten zuerst.", "jobs.most": "Aufgeführt sind nur die neuesten {n}.",
  "job.ExportRegistrations": "Export", "job.ImportCreateRegistrations": "Import: anlegen", "job.ImportUpdateRegistrations": "Import: ändern", "job.ImportDeleteRegistrations": "Import: löschen", "job.ImportUpsertRegistrations": "Import: anlegen oder ändern",
  "job.state.Started": "In der Warteschlange", "job.state.Running": "Läuft", "job.state.Completed": "Abgeschlossen", "job.state.Failed": "Fehlgeschlagen",
  "job.progress": "Fortschritt", "job.took": "Dauer {time}", "job.files": "Dateien: Container {container}, Ordner {folder}", "job.allDone": "Alle Zeilen wurden verarbeitet.", "job.failedLines": "Fehlgeschlagene Zeilen ({size})", "job.someFailed": "Einige Zeilen sind fehlgeschlagen. Ein Admin kann die Datei öffnen.",
};
