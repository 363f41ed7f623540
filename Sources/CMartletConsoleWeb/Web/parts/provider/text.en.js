export default {
  "confirm.title": "Please confirm that it is you",
  "confirm.text": "{name} asks who you are, in a new tab. Its answer is good for ten minutes, and this page stays as it is.",
  "confirm.go": "Continue with {name}",
  "confirm.other": "That was another account. Use your own.",
  "confirm.notAsked": "{name} did not ask who you are, or does not say when it did.",
  "confirm.unavailable": "{name} does not answer as it should. Try again later.",
};
