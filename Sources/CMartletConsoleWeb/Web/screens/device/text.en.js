export default {
  "title": "Device", "gone.last": "Last change, {time}: {what}.", "gone": "This device is no longer registered. Shown is what it was.", "back": "Back", "subtitle": "A device at {service}.", "service": "Push service", "handle": "Handle", "digest": "digest {digest}",
  "tags": "Tags", "tags.none": "none", "key.text": "Key for encrypted texts", "key.push": "Key of the subscription", "installation": "Installation", "registration": "Registration", "made": "Registered", "expires": "Expires", "expires.never": "never",
  "history": "Last 31 days", "change.changed": "changed", "change.expired": "expired", "change.deleted": "removed", "change.taken": "handle taken over by another registration", "change.unregistered": "reported as gone", "change.moved": "new handle",
  "kind.native": "native", "kind.template": "template", "send": "Send to it",
  "remove": "Remove", "remove.title": "Remove this device?", "remove.text": "It gets no more notifications until its app registers again. Most apps do so when they are opened.", "remove.done": "The device was removed.",
  "why.label": "Why not this send?", "why.placeholder": "Id of a send", "why.none": "No send in this hub has this id. The id is on the page of each send.", "why.go": "Show why",
  "meant": "Sends to this device", "lookedBack": "Searched back to {time}", "further": "Search further back",
  "none": "No recent sends", "none.text": "Sends whose audience includes this device are listed here, with the result of each.",
};
