export default {
  "user.former": "Frühere Geräte", "user.sends": "Für {name} bestimmt", "user.none": "Für diese Geräte war zuletzt keine Sendung bestimmt.", "user.lookedBack": "Bis {time} zurück durchsucht", "user.further": "Weiter zurück suchen",
};
