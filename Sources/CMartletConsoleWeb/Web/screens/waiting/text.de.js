export default {
  "title": "Wartende", "subtitle": "Sendungen, die auf ihre Zeit warten, in {zone}.", "tab.all": "Alle", "tab.waiting": "Wartende", "tab.failed": "Fehlgeschlagene",
  "none": "Nichts wartet", "none.text": "Für später geplante Sendungen stehen hier nach Tagen und lassen sich bis dahin ändern oder zurückziehen.", "confidential": "Vertraulich", "sendOf": "Sendung {id}",
  "change": "Ändern", "change.title": "Zu anderer Zeit senden", "change.time": "Tag und Uhrzeit, {zone}", "change.none": "Diese Zeit überspringen die Uhren.", "change.yes": "Ändern", "change.done": "Geändert.", "change.withheld": "Deine Rolle sieht den Inhalt nicht und kann die Zeit deshalb nicht ändern.",
  "withdraw": "Zurückziehen", "withdraw.title": "Diese Sendung zurückziehen?", "withdraw.text": "Niemand bekommt sie. Sie lässt sich nicht zurückholen, aber als neue kopieren.", "withdraw.done": "Zurückgezogen: Niemand bekommt sie.",
};
