export default {
  "users.text": "Wer sich am App-Backend dieses Servers anmeldet. Das sind nicht die Konten dieser Konsole.", "users.prefix": "Anfang eines Namens", "users.find": "Suchen", "users.more": "Weitere Nutzer",
  "users.none": "Noch keine Nutzer", "users.none.text": "„martlet user add NAME“ legt einen an. Nutzer eines Identitätsanbieters stehen hier nicht.", "users.noMatch": "Kein Name beginnt so",
  "users.devices": "Geräte", "users.devicesOf": "Geräte von {name}", "users.account": "Konto", "users.accountOf": "Konto von {name}",
  "users.made": "Angelegt", "users.sessions": "Sitzungen", "users.noRoles": "keine", "users.give": "Hinzufügen",
  "users.renew": "Neues Passwort", "users.renew.text": "Das alte Passwort von {name} gilt nicht mehr, und alle Sitzungen enden.", "users.renewed": "Das neue Passwort von {name}. Es wird nicht wieder angezeigt. Geben Sie es selbst weiter.",
  "users.remove": "Nutzer entfernen", "users.remove.text": "Die Sitzungen enden, und die Geräte werden entfernt. Das lässt sich nicht rückgängig machen.", "users.typed": "Zur Bestätigung {name} eingeben",
};
