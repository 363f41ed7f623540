export default {
  "held.paused": "Es wird nichts gesendet, bis jemand die Sendung fortsetzt. Sie läuft trotzdem ab: {time}.",
  "held.halted": "Automatisch angehalten, weil zu viele fehlgeschlagen sind ({time}). Nach „Fortsetzen“ wird neu gezählt.", "held.share": "Die Grenze ist {share} %.",
  "held.approval": "Die ersten Geräte sind erreicht. Der Rest wartet, bis jemand die Sendung fortsetzt.",
  "held.time": "Die ersten Geräte sind erreicht. Der Rest geht von selbst hinaus: {time}.", "held.unless": "Schlagen von den ersten mehr als {share} % fehl, wird die Sendung stattdessen angehalten.",
  "held.answers": "Die Wartezeit ist vorbei, aber für die meisten der ersten Geräte gibt es noch kein Ergebnis. Der Rest wartet darauf, oder bis jemand die Sendung fortsetzt.",
  "held.go": "Jetzt fortsetzen", "held.stop": "Stoppen", "did.resume": "Wird fortgesetzt.", "did.pause": "Pausiert.", "did.cancel": "Gestoppt.",
  "unsure.cancel": "Der Server antwortet nicht: Die Sendung geht vielleicht weiter hinaus. Diese Seite versucht weiter, sie zu stoppen.",
  "unsure.pause": "Der Server antwortet nicht: Die Sendung geht vielleicht weiter hinaus. Diese Seite versucht weiter, sie zu pausieren.",
  "unsure.resume": "Der Server antwortet nicht: Die Sendung geht vielleicht nicht weiter. Bitte erneut versuchen.",
  "stop.title": "Diese Sendung stoppen?", "stop.text": "Geräte, die noch nicht an der Reihe waren, erhalten sie nie. Das lässt sich nicht rückgängig machen; „Pausieren“ hält sie nur an.",
};
