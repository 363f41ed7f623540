export default {
  "confirm.title": "Please confirm that it is you",
  "confirm.text": "This shows or changes secrets. Your password is good for the next ten minutes.",
  "confirm.password": "Your password",
  "confirm.yes": "Confirm",
  "confirm.wrong": "That is not your password.",
  "confirm.tooMany": "Too many attempts. Wait a minute.",
  "command.martlet": "On the server's machine. --data names the data directory.",
  "command.hub": "From anywhere. TOKEN is a shared access signature, made from a connection string of the hub.",
  "command.socket": "On the server's machine, in the data directory.",
};
