export default {
  "ended.changed": "Its tags changed {time}: since then it is not this user's device.", "ended.deleted": "It was removed {time}, by the app or through the API.", "ended.taken": "Another registration took over its handle {time}: the device has another user, or the app registered anew.",
  "ended.unregistered": "{service} reported it as gone {time}: the app was removed, or the device was reset.", "ended.moved": "It got a new handle {time}.", "ended.expired": "Its registration expired {time}.",
  "noDevice": "{name} has no device", "noDevice.now": "{name} has no device any more", "noDevice.last": "The last one: {what}",
  "noDevice.never": "No app has registered a device for this user in this hub in the last 31 days.", "noDevice.searched": "There was none back to {time}. Older changes were not looked through.",
  "noDevice.do": "The app registers again when the user opens it. Until then, nothing reaches this user.", "noDevice.check": "Check the spelling and the hub, and whether the app registers after signing in.",
};
