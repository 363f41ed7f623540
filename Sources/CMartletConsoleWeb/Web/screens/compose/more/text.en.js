export default {
  "field.picture": "Picture", "field.sound": "Sound", "field.priority": "Priority", "field.badge": "Badge", "field.collapse": "Collapse key", "field.data": "Data for the app",
  "field.confidential": "Confidential: nobody can see the content afterwards", "field.silent": "Silent: wakes the app and shows nothing", "field.truncate": "Cut the text where it is too long",
  "help.badge": "A number, or +1.", "help.collapse": "A newer message with the same key replaces this one.",
  "sound.default": "Default", "sound.none": "None", "priority.normal": "Normal", "priority.high": "High", "priority.low": "Low",
  "data.name": "Name", "data.value": "Value", "data.add": "Add a pair", "data.remove": "Remove this pair",
  "problem.picture": "A picture needs an address that begins with https://.", "problem.badge": "A number up to 99,999, or +1.", "problem.collapse": "At most 64 letters, digits and signs, no spaces.",
};
