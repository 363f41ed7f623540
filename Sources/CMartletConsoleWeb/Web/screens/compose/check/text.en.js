export default {
  "check.languages": "Some devices have other languages ({names}) and get the first one.", "looks.language": "Language of the previews",
  "looks.empty": "Previews appear as soon as there is a text and an audience. They show the actual payloads.", "looks.none": "No device in this audience gets a payload.", "looks.note": "Made from the actual payloads. Device settings decide the rest. Pictures are not loaded here.",
  "json": "As JSON", "json.byHand": "Written by hand", "json.back": "Back to the composed payload", "json.title": "Payload for {service}", "json.label": "What the device gets", "json.take": "Use this payload", "json.bad": "This is not valid JSON.",
  "checking": "Checking", "check.noText": "Write a title or a text first.", "check.nobody": "Choose an audience first.", "check.fields": "Correct the marked fields.",
  "check.accepted": { one: "Ready to send to 1 device", other: "Ready to send to {n} devices" }, "check.warned": { one: "Can be sent to 1 device, but not all is well", other: "Can be sent to {n} devices, but not all is well" }, "check.first": "Goes to the first {first} of {n} devices, then waits", "check.notAccepted": "This would be refused", "check.refused": "The server refuses this",
  "check.missing": { one: "{service}: no credential; 1 device gets nothing", other: "{service}: no credential; {n} devices get nothing" }, "check.unusable": "{service}: the credential is not usable", "check.unchecked": "{service}: the credential could not be checked",
  "check.templates": { one: "1 device has only templates and gets nothing", other: "{n} devices have only templates and get nothing" }, "check.lasts": "Takes {time} at this rate", "check.at": "Checked at {time}.",
  "count.nobody": "No audience chosen yet.", "counting": "Counting", "count.templates": { one: "1 registration with a template does not get composed messages.", other: "{n} registrations with templates do not get composed messages." },
};
