export default {
  "language.help": "기기는 앱이 알린 언어(lang: 태그)로 받고, 없으면 첫 번째 언어로 받습니다.", "language.own": "위 내용의 언어", "language.tag": "언어", "language.other": "다른 언어", "language.add": "언어 추가", "language.remove": "이 언어 삭제", "language.button": "버튼: {title}",
  "problem.tag": "언어는 en, de-AT, zh-Hans 같은 태그로 입력하세요.", "problem.ownText": "다른 언어로 쓴 항목은 첫 번째 언어에도 있어야 합니다.",
};
