export default {
  "title": "Your first notification", "subtitle": "Three steps, about two minutes.", "notAdmin": "Only an admin can do these steps.", "done": "Done",
  "step.hub": "A hub", "step.hub.text": "A hub holds the devices, tags and keys of one app.", "hub.name": "Hub name", "hub.make": "Create",
  "step.device": "A device", "step.device.text": "A simulated phone, or this browser.", "device.makePhone": "Simulate a phone", "device.useBrowser": "Notify this browser", "device.other": "Use another device",
  "device.note": "Neither needs an account. Browser push goes through the push service of the browser's maker.", "device.phone": "Simulated phone", "device.browser": "This browser",
  "step.push": "A notification", "step.push.text": "Write something and send it.", "push.hello": "Hello from Martlet", "push.label": "Text", "push.send": "Send", "push.underWay": "Sending", "push.arrived": "It has arrived.", "push.arrivedIn": "Arrived in {time}.", "push.why": "See what happened",
  "phone.none": "Your device will appear here.", "phone.ready": "Ready. Now send something.",
  "browser.cannot": "This browser does not support Web Push here. Simulate a phone instead.", "browser.denied": "The browser blocks notifications for this site. Allow them, or simulate a phone instead.", "browser.noKey": "The public key of this hub is not known. Simulate a phone instead.", "browser.unreachable": "The browser cannot reach its push service. Without internet access, simulate a phone instead.",
  "then": "Next steps", "then.credentials": "Connect real push services", "then.credentials.text": "A key for APNs, a service account for FCM", "then.app": "Connect your app", "then.app.text": "Connection strings for each SDK", "then.invite": "Invite a colleague", "then.invite.text": "As viewer, sender or admin", "then.campaign": "Compose a campaign", "then.campaign.text": "With previews, a check and undo",
};
