export default {
  "title": "Device", "back": "Back", "subtitle": "A device at {service}.", "service": "Push service", "handle": "Handle", "digest": "digest {digest}",
  "tags": "Tags", "tags.none": "none", "installation": "Installation", "registration": "Registration", "made": "Registered", "expires": "Expires", "expires.never": "never",
  "history": "Last 31 days", "change.changed": "changed", "change.deleted": "removed", "change.taken": "handle taken over by another", "change.unregistered": "said to be gone", "change.moved": "new handle",
  "kind.native": "native", "kind.template": "template", "send": "New send to it",
  "remove": "Remove", "remove.title": "Remove this device?", "remove.text": "It gets nothing more until its app registers again, which most apps do when they are opened.", "remove.done": "The device was removed.",
  "why.label": "Why not this send?", "why.placeholder": "Id of a send", "why.go": "Show why",
  "meant": "What was meant for it", "confidential": "Confidential", "sendOf": "Send {id}", "lookedBack": "Looked back to {time}", "further": "Look further back",
  "none": "Nothing was meant for it lately", "none.text": "Sends whose audience this device was in are listed here, with what became of each.",
};
