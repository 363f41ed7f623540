export default {
  "who": "Warum hat es jemand nicht bekommen? Benutzername oder ID eines Geräts", "who.go": "Grund zeigen", "who.more": { one: "1 weiteres Gerät steht unter Personen.", other: "{n} weitere Geräte stehen unter Personen." },
};
