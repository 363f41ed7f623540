export default {
  "title": "Password and sessions", "subtitle": "{name}: {roles}", "sessions": "Sessions", "sessions.text": "Where you are signed in. End what you do not know, then change your password.", "this": "this one", "used": "used {time} from {address}, since {since}", "end": "End",
  "password": "Password", "password.old": "Present password", "password.new": "New password", "password.help": "At least 8 characters. Your other sessions end.", "password.change": "Change the password", "password.done": "The password is changed.",
};
