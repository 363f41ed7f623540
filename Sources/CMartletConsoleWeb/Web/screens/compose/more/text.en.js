export default {
  "field.variables": "Variables", "help.variables": "In a text, $(name) stands for what the app has told of each device, or else for the default.", "add.variables": "Add a variable", "variables.default": "Default", "field.actions": "Buttons", "add.actions": "Add a button", "actions.title": "Title", "actions.link": "Link", "actions.id": "Id for the app", "actions.remove": "Remove this button", "problem.actions": "A button needs a title, and its link a whole address.",
  "field.picture": "Picture", "field.sound": "Sound", "field.priority": "Priority", "field.badge": "Badge", "field.collapse": "Collapse key", "field.data": "Data for the app",
  "field.confidential": "Confidential: nobody can see the content afterwards", "field.silent": "Silent: wakes the app and shows nothing",
  "help.badge": "A number, or +1.", "help.collapse": "A newer message with the same key replaces this one.",
  "sound.default": "Default", "sound.none": "None", "priority.normal": "Normal", "priority.high": "High", "priority.low": "Low",
  "data.name": "Name", "data.value": "Value", "add.data": "Add a pair", "data.remove": "Remove this pair",
  "problem.picture": "A picture needs an address that begins with https://.", "problem.badge": "A number up to 99,999, or +1.", "problem.collapse": "At most 64 letters, digits and signs, no spaces.",
};
