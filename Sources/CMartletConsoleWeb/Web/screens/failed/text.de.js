export default {
  "title": "Fehlgeschlagene Sendungen", "subtitle": "Sendungen, die nicht alle Geräte erreicht haben, neueste zuerst.",
  "none": "Nichts ist fehlgeschlagen", "none.text": "Hier stehen Geräte, die eine Sendung nicht erreicht hat, nach Gründen geordnet. Sie können ihnen erneut senden.", "more": "Ältere Fehler", "total": { one: "1 Gerät", other: "{n} Geräte" },
  "again": "Erneut senden", "again.title": { one: "Erneut an 1 Gerät senden?", other: "Erneut an {n} Geräte senden?" }, "again.who": "Gesendet wird nur an Geräte, die noch registriert sind und noch zur Zielgruppe gehören.", "again.once": "Jeder Fehler kann einmal wiederholt werden.", "again.new": "Es entsteht eine neue Sendung mit demselben Inhalt, eigenen 24 Stunden und eigenem Bericht.", "again.yes": { one: "An 1 Gerät senden", other: "An {n} Geräte senden" }, "resent": "Erneut gesendet", "again.taken": { one: "{done} von 1 angenommen", other: "{done} von {n} angenommen" }, "again.done": "Erneut gesendet.",
};
