export default {
  "language": "Language", "zone": "Time zone", "theme": "Appearance", "theme.auto": "As the system", "theme.light": "Light", "theme.dark": "Dark",
  "keys": "Shortcuts with single keys", "account": "Password and sessions", "signOut": "Sign out", "signOut.drafts": "This browser keeps drafts of sends. Whoever uses this browser profile could read them.", "signOut.notEnded": "You are signed out in this browser. The server could not end the session; it ends 12 hours after its last use.", "signOut.delete": "Delete them and sign out", "signOut.keep": "Keep them and sign out",
  "key.title": "Keys", "key.rows": "Next and previous row", "key.open": "Open the row", "key.list": "This list",
  "key.off": "Single keys can be switched off in your menu.",
  "search.title": "Search", "search.label": "User, device, tag or send",
  "search.help": "A user's name, the id of a registration, an installation or a send, a tag, or a device's whole handle.",
};
