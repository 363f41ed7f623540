export default {
  "looks.empty": "Die Vorschau erscheint, sobald es einen Text und eine Zielgruppe gibt. Sie zeigt, was die Geräte tatsächlich erhalten.", "looks.none": "Kein Gerät dieser Zielgruppe erhält etwas.", "looks.note": "Erzeugt aus dem tatsächlichen Inhalt. Den Rest bestimmen die Einstellungen des Geräts. Bilder werden hier nicht geladen.",
  "json": "Als JSON", "json.byHand": "Von Hand geschrieben", "json.back": "Zurück zum verfassten Inhalt", "json.title": "Inhalt für {service}", "json.label": "Was das Gerät erhält", "json.take": "Übernehmen", "json.bad": "Das ist kein gültiges JSON.",
  "checking": "Wird geprüft", "check.noText": "Schreiben Sie zuerst einen Titel oder Text.", "check.nobody": "Wählen Sie zuerst eine Zielgruppe.", "check.fields": "Korrigieren Sie die markierten Felder.",
  "check.accepted": { one: "Bereit zum Senden an 1 Gerät", other: "Bereit zum Senden an {n} Geräte" }, "check.notAccepted": "Würde abgelehnt", "check.refused": "Der Server lehnt das ab",
  "check.missing": { one: "{service}: keine Zugangsdaten, 1 Gerät erhält nichts", other: "{service}: keine Zugangsdaten, {n} Geräte erhalten nichts" }, "check.unusable": "{service}: Die Zugangsdaten sind ungültig", "check.unchecked": "{service}: Die Zugangsdaten konnten nicht geprüft werden",
  "check.templates": { one: "1 Gerät hat nur Vorlagen und erhält nichts", other: "{n} Geräte haben nur Vorlagen und erhalten nichts" }, "check.lasts": "Dauert bei dieser Rate {time}", "check.at": "Geprüft um {time}.",
};
