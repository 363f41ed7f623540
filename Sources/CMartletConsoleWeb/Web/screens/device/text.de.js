export default {
  "title": "Gerät", "gone.last": "Letzte Änderung, {time}: {what}.", "gone": "Dieses Gerät ist nicht mehr registriert. Angezeigt wird der letzte Stand.", "back": "Zurück", "subtitle": "Ein Gerät bei {service}.", "service": "Push-Dienst", "handle": "Adresse", "digest": "Prüfsumme {digest}",
  "tags": "Tags", "tags.none": "keine", "key.text": "Schlüssel für verschlüsselte Texte", "key.push": "Schlüssel des Abonnements", "installation": "Installation", "registration": "Registrierung", "made": "Registriert", "expires": "Läuft ab", "expires.never": "nie",
  "history": "Letzte 31 Tage", "change.changed": "geändert", "change.expired": "abgelaufen", "change.deleted": "entfernt", "change.taken": "Adresse von anderer übernommen", "change.unregistered": "als nicht mehr vorhanden gemeldet", "change.moved": "neue Adresse",
  "kind.native": "nativ", "kind.template": "Vorlage", "send": "Neue Sendung an dieses Gerät",
  "remove": "Entfernen", "remove.title": "Dieses Gerät entfernen?", "remove.text": "Es erhält nichts mehr, bis die App sich neu registriert. Die meisten Apps tun das beim Öffnen.", "remove.done": "Das Gerät wurde entfernt.",
  "why.label": "Warum kam eine Sendung nicht an?", "why.placeholder": "ID einer Sendung", "why.none": "Keine Sendung dieses Hubs hat diese ID. Sie steht auf der Seite der Sendung.", "why.go": "Ursache zeigen",
  "meant": "Sendungen an dieses Gerät", "lookedBack": "Durchsucht bis {time}", "further": "Weiter zurück",
  "none": "Keine Sendungen in letzter Zeit", "none.text": "Hier stehen Sendungen, zu deren Zielgruppe dieses Gerät gehörte, mit dem Ergebnis.",
};
