export default {
  "held.paused": "Nothing is sent until somebody continues. It still expires {time}.",
  "held.halted": "Halted automatically, because too many failed. {time}. Continue starts a new count.", "held.share": "The limit is {share} %.",
  "held.approval": "The first devices have it. The rest waits until somebody continues.",
  "held.time": "The first devices have it. The rest goes out by itself: {time}.", "held.unless": "It halts instead if more than {share} % of the first fail.",
  "held.answers": "The waiting time is over, but most of the first devices have no result yet. The rest waits for results, or until somebody continues.",
  "held.go": "Continue now", "held.stop": "Stop", "did.resume": "Continued.", "did.pause": "Paused.", "did.cancel": "Stopped.",
  "unsure.cancel": "The server does not answer: the send may still be going out. This page keeps trying to stop it.",
  "unsure.pause": "The server does not answer: the send may still be going out. This page keeps trying to pause it.",
  "unsure.resume": "The server does not answer: the send may not have continued. Try again.",
  "stop.title": "Stop this send?", "stop.text": "Devices not yet reached never get it. This cannot be undone; Pause holds it instead.",
};
