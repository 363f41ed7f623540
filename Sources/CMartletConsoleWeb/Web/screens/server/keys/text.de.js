export default {
  "keys.text": "Geheimnisse in der Datenbank sind mit dem neuesten dieser Schlüssel verschlüsselt. Die Schlüssel selbst stehen in secret.key, oder wo der Server sie herbekommt, und werden nie angezeigt.",
  "keys.newest": "In Gebrauch", "keys.older": "Älter", "keys.left": { one: "1 Geheimnis ist noch mit einem älteren Schlüssel verschlüsselt.", other: "{n} Geheimnisse sind noch mit älteren Schlüsseln verschlüsselt." }, "keys.reseal": "Mit dem neuesten verschlüsseln", "keys.working": "Der Server verschlüsselt Geheimnisse neu. Er arbeitet weiter.",
  "keys.rotate": "Neuer Schlüssel", "keys.rotate.text": "Der Server erzeugt einen neuen Schlüssel und verschlüsselt alle Geheimnisse damit. Ältere Sicherungen brauchen weiterhin die älteren Schlüssel. Kopieren Sie secret.key danach erneut an einen sicheren Ort.",
  "keys.retire": "Ältere Schlüssel entfernen", "keys.retire.text": "Sicherungen, die nur die älteren Schlüssel öffnen, werden unlesbar.", "keys.retire.typed": "Zur Bestätigung {word} eingeben",
};
