export default {
  "keys.text": "Secrets in the database are encrypted with the newest of these keys. The keys themselves are in secret.key, or where the server gets them from, and are never shown.",
  "keys.newest": "In use", "keys.older": "Older", "keys.left": { one: "1 secret is still encrypted with an older key.", other: "{n} secrets are still encrypted with older keys." }, "keys.reseal": "Encrypt with the newest key", "keys.working": "The server encrypts secrets anew. It keeps running.",
  "keys.rotate": "New key", "keys.rotate.text": "The server makes a new key, and encrypts all secrets with it. Older backups still need the older keys. Copy secret.key to a safe place again afterwards.",
  "keys.retire": "Remove older keys", "keys.retire.text": "Backups that only the older keys open become unreadable.", "keys.retire.typed": "Type {word} to confirm",
};
