export default {
  "test.title": "Send a test", "test.text": "Sent at once to at most ten devices. Nobody else gets it.", "test.to": "Testers, as an expression", "test.send": "Send the test", "test.running": "Sending", "test.nobody": "No device fits this expression.",
  "isJSON": "The text is JSON", "isJSON.text": "People will see the braces and quotes. Send it anyway?", "isJSON.yes": "Send it as it is",
  "sure": { one: "Send to 1 device?", other: "Send to {n} devices?" }, "sure.everybody": "To everybody in this hub.", "sure.text": "After ten seconds it cannot be recalled.", "sure.typed": "Type the number {number} to confirm",
  "undo.leaving": "The send goes out in a moment.", "undo": "Undo", "undo.left": "Sending to {devices} devices in {n} s", "undo.first": "Sending to the first {first} of {devices} devices in {n} s", "undo.told": "It will be sent in ten seconds. Undo stops it.", "undone": "Undone. Nothing was sent.", "undo.late": "It had already started. The rest was stopped.", "scheduled": "Scheduled for {time}.",
};
