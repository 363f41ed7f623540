export default {
  "who": "Why did somebody not get it? Name of a user, or id of a device", "who.go": "Show why", "who.more": { one: "1 more device is under People.", other: "{n} more devices are under People." },
};
