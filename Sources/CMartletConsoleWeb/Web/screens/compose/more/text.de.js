export default {
  "field.variables": "Variablen", "help.variables": "Im Text steht $(name) für das, was die App zu jedem Gerät angegeben hat, sonst für den Standardwert.", "add.variables": "Variable hinzufügen", "variables.default": "Standardwert", "field.actions": "Knöpfe", "add.actions": "Knopf hinzufügen", "actions.title": "Titel", "actions.link": "Link", "actions.id": "ID für die App", "actions.remove": "Diesen Knopf entfernen", "problem.actions": "Ein Knopf braucht einen Titel, und sein Link eine ganze Adresse.",
  "field.picture": "Bild", "field.sound": "Ton", "field.priority": "Priorität", "field.badge": "Zahl am Symbol", "field.collapse": "Collapse-Key", "field.data": "Daten für die App",
  "field.confidential": "Vertraulich: Den Inhalt sieht danach niemand", "field.silent": "Still: weckt die App und zeigt nichts",
  "help.badge": "Eine Zahl oder +1.", "help.collapse": "Eine neuere Nachricht mit demselben Schlüssel ersetzt diese.",
  "sound.default": "Standard", "sound.none": "Keiner", "priority.normal": "Normal", "priority.high": "Hoch", "priority.low": "Niedrig",
  "data.name": "Name", "data.value": "Wert", "add.data": "Paar hinzufügen", "data.remove": "Dieses Paar entfernen",
  "problem.picture": "Ein Bild braucht eine Adresse, die mit https:// beginnt.", "problem.badge": "Eine Zahl bis 99.999 oder +1.", "problem.collapse": "Höchstens 64 Buchstaben, Ziffern und Zeichen, keine Leerzeichen.",
};
