export default {
  "look.unknown": "Aus dem Inhalt geht nicht hervor, was gezeigt wird.", "look.silent": "Weckt die App und zeigt nichts", "look.now": "jetzt", "look.nothing": "Kein Text",
  "look.byApp": "Die App zeichnet sie und kann etwas anderes zeigen.", "look.badge": "Zahl am Symbol:", "look.picture": "Bild:", "look.link": "Öffnet",
  "caution.actionsNeedTheSDK": "Knöpfe brauchen das SDK in der App.", "caution.subtitleNotShown": "Der Untertitel wird nicht gezeigt.", "caution.badgeNotShown": "Die Zahl am Symbol wird nicht gezeigt.",
  "caution.textIsCutAfterLines": "Der Text ist gekürzt, bis man sie öffnet.", "caution.wakesOnly": "Es wird nichts gezeigt.", "caution.soundIsTheChannels": "Über den Ton entscheidet das Telefon.",
};
