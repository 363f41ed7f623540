export default {
  "title": "People", "subtitle": "Find a person's devices and what was sent to them.",
  "label": "User, id, tag or handle", "placeholder": "alice", "find": "Find",
  "begin": "Who are you looking for?", "begin.text": "Enter a user name, a registration or installation id, a tag, or a complete device handle. Searches never appear in addresses or logs.",
  "none": "No results", "none.text": "Check the spelling and the hub. A device that has unregistered is not found here, but its id can still be entered on the page of a send.",
  "none.viewer": "Your role can find users by exact name only. Check the spelling and the hub.",
  "users": "Similar names", "more": "There are more matches. Refine the search.", "since": "since {time}",
  "kind.native": "native", "kind.template": "template",
};
