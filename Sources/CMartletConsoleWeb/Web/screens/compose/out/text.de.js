export default {
  "test.title": "Test senden", "test.text": "Wird sofort an höchstens zehn Geräte gesendet. Sonst erhält niemand den Test.", "test.to": "Tester, als Ausdruck", "test.send": "Test senden", "test.running": "Wird gesendet", "test.nobody": "Kein Gerät passt zu diesem Ausdruck.",
  "isJSON": "Der Text ist JSON", "isJSON.text": "Die Empfänger sehen Klammern und Anführungszeichen. Trotzdem senden?", "isJSON.yes": "Trotzdem senden",
  "sure": { one: "An 1 Gerät senden?", other: "An {n} Geräte senden?" }, "sure.everybody": "An alle in diesem Hub.", "sure.text": "Nach zehn Sekunden lässt sich die Sendung nicht mehr zurücknehmen.", "sure.typed": "Geben Sie zur Bestätigung die Zahl {number} ein",
  "undo.leaving": "Die Sendung geht gleich hinaus.", "undo": "Zurücknehmen", "undo.left": "Wird in {n} s an {devices} Geräte gesendet", "undo.first": "Wird in {n} s an die ersten {first} von {devices} Geräten gesendet", "undo.told": "Wird in zehn Sekunden gesendet. „Zurücknehmen“ verhindert es.", "undone": "Zurückgenommen. Es wurde nichts gesendet.", "undo.late": "Der Versand hatte schon begonnen. Der Rest wurde gestoppt.", "scheduled": "Geplant für {time}.",
};
