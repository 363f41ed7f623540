export default {
  "confirm.title": "Bitte bestätigen Sie Ihre Identität",
  "confirm.text": "{name} fragt in einem neuen Tab, wer Sie sind. Die Antwort gilt zehn Minuten, und diese Seite bleibt, wie sie ist.",
  "confirm.go": "Weiter mit {name}",
  "confirm.other": "Das war ein anderes Konto. Nehmen Sie Ihr eigenes.",
  "confirm.notAsked": "{name} hat nicht nach Ihrer Identität gefragt oder nennt die Zeit nicht.",
  "confirm.unavailable": "{name} antwortet nicht wie vorgesehen. Versuchen Sie es später erneut.",
};
