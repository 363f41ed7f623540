export default {
  "users.text": "Users who log in to the app backend of this server, not the operators of this console.", "users.prefix": "Beginning of a name", "users.find": "Find", "users.more": "More users",
  "users.none": "No users yet", "users.none.text": "“martlet user add NAME” adds one. Users of an identity provider are not listed.", "users.noMatch": "No user's name begins like this",
  "users.devices": "Devices", "users.devicesOf": "Devices of {name}", "users.account": "Account", "users.accountOf": "Account of {name}",
  "users.made": "Added", "users.sessions": "Sessions", "users.noRoles": "none", "users.give": "Add",
  "users.renew": "New password", "users.renew.text": "The old password of {name} and all sessions end.", "users.renewed": "The new password of {name}. It is not shown again. Pass it on yourself.",
  "users.remove": "Remove the user", "users.remove.text": "Sessions end, and devices are removed. This cannot be undone.", "users.typed": "Type {name} to confirm",
};
