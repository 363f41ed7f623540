export default {
  "edit": "Bearbeiten",
  "title": "Wartende Sendungen", "subtitle": "Alle Zeiten in {zone}.", "form": "Ansicht", "form.agenda": "Liste", "form.month": "Monat",
  "held": "Angehalten", "none": "Nichts geplant", "none.text": "Hier stehen Sendungen für später, nach Tagen geordnet. Bis dahin können Sie sie ändern oder zurückziehen.",
  "month.none": "Für diesen Tag ist nichts geplant.", "month.count": { one: "1 Sendung", other: "{n} Sendungen" }, "month.before": "Voriger Monat", "month.after": "Nächster Monat", "month.today": "Heute",
  "change": "Zeit ändern", "change.title": "Zu einer anderen Zeit senden", "change.time": "Tag und Uhrzeit, {zone}", "change.none": "Diese Uhrzeit gibt es wegen der Zeitumstellung nicht.", "change.past": "Diese Zeit ist schon vorbei.", "change.done": "Geändert.", "change.withheld": "Mit Ihrer Rolle können Sie den Inhalt nicht sehen und daher die Zeit nicht ändern.",
  "now": "Jetzt senden", "now.title": "Jetzt senden?", "now.text": "Die Sendung geht in {n} Sekunden hinaus. Bis dahin können Sie sie auf ihrer Seite noch stoppen.",
  "withdraw": "Zurückziehen", "withdraw.title": "Diese Sendung zurückziehen?", "withdraw.text": "Niemand erhält sie. Sie können sie später als neue Sendung kopieren.", "withdraw.done": "Zurückgezogen. Niemand erhält sie.",
};
