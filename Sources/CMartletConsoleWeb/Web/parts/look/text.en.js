export default {
  "look.unknown": "The payload does not tell what is shown.", "look.silent": "Wakes the app and shows nothing", "look.now": "now", "look.nothing": "No text",
  "look.byApp": "The app draws it and may show something else.", "look.badge": "Badge", "look.picture": "Picture:", "look.link": "Opens",
  "caution.actionsNeedTheSDK": "Buttons need the SDK in the app.", "caution.subtitleNotShown": "The subtitle is not shown.", "caution.badgeNotShown": "The badge is not shown.",
  "caution.textIsCutAfterLines": "The text is cut until it is opened.", "caution.wakesOnly": "Nothing is shown.", "caution.soundIsTheChannels": "The phone's settings decide the sound.",
};
