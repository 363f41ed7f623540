export default {
  "language.help": "Ein Gerät bekommt die Sprache, die seine App angegeben hat (Tag lang:), sonst die erste.", "language.own": "Sprache des Textes oben", "language.tag": "Sprache", "language.other": "Eine weitere Sprache", "language.add": "Sprache hinzufügen", "language.remove": "Diese Sprache entfernen", "language.button": "Knopf: {title}",
  "problem.tag": "Eine Sprache ist ein Kürzel wie en, de-AT oder zh-Hans.", "problem.ownText": "Was in einer anderen Sprache steht, wird auch in der ersten gebraucht.",
};
