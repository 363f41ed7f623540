export default {
  "language.help": "A device gets the language that its app has told (tag lang:), else the first one.", "language.own": "Language of the text above", "language.tag": "Language", "language.other": "Another language", "language.add": "Add a language", "language.remove": "Remove this language", "language.button": "Button: {title}",
  "problem.tag": "A language is a tag such as en, de-AT or zh-Hans.", "problem.ownText": "What is said in another language is needed in the first one too.",
};
