export default {
  "title": "People", "subtitle": "Find somebody's devices, and what was meant for them.",
  "label": "User, id, tag or handle", "placeholder": "alice", "find": "Find",
  "begin": "Who is it about?", "begin.text": "Type a user's name, the id of a registration or an installation, a tag, or a device's whole handle. What you type stays out of addresses and logs.",
  "none": "Nobody is found", "none.text": "Check the spelling and the hub. Devices are found by what they have now; who has unregistered is gone from here, but a send's Why still knows the id.",
  "none.viewer": "Your role finds users by their exact name only. Check the spelling and the hub.",
  "users": "Names that begin like this", "more": "More devices fit; type something more exact.", "since": "since {time}",
  "kind.native": "native", "kind.template": "template",
};
