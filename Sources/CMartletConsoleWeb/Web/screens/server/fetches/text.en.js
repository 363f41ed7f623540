export default {
  "fetches.text": "Who has fetched rich and secure notifications, which stay on the server, and who was refused. The newest first.",
  "fetches.user": "User", "fetches.payload": "Notification", "fetches.when": "When", "fetches.from": "From", "fetches.outcome": "Result", "fetches.find": "Filter", "fetches.read": "read", "fetches.refused": "refused", "fetches.more": "Show the newest {n}",
  "fetches.none": "No fetches", "fetches.none.text": "The number of a notification is the id in its push.",
};
