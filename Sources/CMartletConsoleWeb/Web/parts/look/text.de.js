export default {
  "look.unknown": "Aus dem Inhalt geht nicht hervor, was angezeigt wird.", "look.silent": "Weckt die App und zeigt nichts an", "look.now": "jetzt", "look.nothing": "Kein Text",
  "look.byApp": "Die App gestaltet die Anzeige und kann davon abweichen.", "look.badge": "Zahl am Symbol:", "look.picture": "Bild:", "look.link": "Öffnet",
  "caution.actionsNeedTheSDK": "Schaltflächen brauchen das SDK in der App.", "caution.subtitleNotShown": "Der Untertitel wird nicht angezeigt.", "caution.badgeNotShown": "Die Zahl am Symbol wird nicht angezeigt.",
  "caution.textIsCutAfterLines": "Der Text ist gekürzt, bis die Nachricht geöffnet wird.", "caution.wakesOnly": "Es wird nichts angezeigt.", "caution.soundIsTheChannels": "Über den Ton entscheiden die Einstellungen des Telefons.",
};
