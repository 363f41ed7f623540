export default {
  "title": "Gerät", "gone": "Dieses Gerät ist nicht mehr registriert. Gezeigt wird, was es war.", "back": "Zurück", "subtitle": "Ein Gerät bei {service}.", "service": "Push-Dienst", "handle": "Adresse", "digest": "Prüfsumme {digest}",
  "tags": "Tags", "tags.none": "keine", "installation": "Installation", "registration": "Registrierung", "made": "Registriert", "expires": "Läuft ab", "expires.never": "nie",
  "history": "Letzte 31 Tage", "change.changed": "geändert", "change.expired": "abgelaufen", "change.deleted": "entfernt", "change.taken": "Adresse von anderer übernommen", "change.unregistered": "als fort gemeldet", "change.moved": "neue Adresse",
  "kind.native": "nativ", "kind.template": "Vorlage", "send": "Neue Sendung dorthin",
  "remove": "Entfernen", "remove.title": "Dieses Gerät entfernen?", "remove.text": "Es bekommt nichts mehr, bis seine App sich neu registriert; die meisten tun es, wenn man sie öffnet.", "remove.done": "Das Gerät wurde entfernt.",
  "why.label": "Warum diese Sendung nicht?", "why.placeholder": "Id einer Sendung", "why.go": "Warum zeigen",
  "meant": "Sendungen an dieses Gerät", "confidential": "Vertraulich", "sendOf": "Sendung {id}", "lookedBack": "Zurückgesehen bis {time}", "further": "Weiter zurück",
  "none": "Zuletzt keine Sendungen", "none.text": "Hier stehen Sendungen, zu deren Empfängern dieses Gerät gehörte, und was daraus wurde.",
};
