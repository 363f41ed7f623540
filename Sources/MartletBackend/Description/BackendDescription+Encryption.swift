import MartletHTTP
import MartletModel
import MartletOpenAPI

/// Describes the routes for device keys, ciphertexts and receipts.
extension BackendDescription {
    var deviceKeys: APIOperation {
        APIOperation(
            .get, "/api/users/{name}/keys", id: "getDeviceKeys", "Get the keys for encryption to a user's devices",
            answers: [
                APIAnswer(
                    .ok,
                    "The devices that have keys; empty for an unknown user, and for one to whom the caller may not send.",
                    .json(
                        Self.object([
                            "user": ["type": "string"],
                            "devices": Self.array(
                                Self.object([
                                    "device": ["type": "string"], "platform": ["type": "string"],
                                    "publicKey": ["type": "string"], "authSecret": ["type": "string"],
                                ])),
                        ])))
            ])
    }

    var sendEncrypted: APIOperation {
        let ciphertext = Self.object([
            "device": ["type": "string", "description": "The id of its registration."],
            "fingerprint": ["type": "string", "description": "SHA-256 of public key and secret, in base64url."],
            "ciphertext": ["type": "string", "description": "One aes128gcm record (RFC 8291) in base64."],
        ])
        return APIOperation(
            .post, "/api/notifications/encrypted", id: "sendEncrypted", "Send each device its ciphertext",
            parameters: [Self.idempotencyKey],
            body: [
                .json([
                    "type": "object", "required": ["to", "ciphertexts"],
                    "properties": [
                        "to": ["type": "string"],
                        "message": [
                            "type": ["string", "null"], "description": "Shown on devices that cannot decrypt.",
                            "minLength": 1, "maxLength": 1000,
                        ],
                        "expiresIn": [
                            "type": ["integer", "null"], "description": "In seconds.", "minimum": 1,
                            "maximum": 2_592_000,
                        ],
                        "ciphertexts": Self.array(ciphertext, count: 1...100),
                    ],
                ])
            ],
            answers: [
                APIAnswer(
                    .created, "Accepted; with an id for fetching if the ciphertext does not fit into the push.",
                    .json(
                        Self.object([
                            "devices": Self.array(
                                Self.object([
                                    "device": ["type": "string"], "id": ["type": ["integer", "null"]],
                                ]))
                        ]))),
                Self.refusal(.conflict, "Devices, which it names, have other keys; nothing was sent."),
                Self.keyReused,
            ])
    }

    var addReceipts: APIOperation {
        let receipt = Self.object([
            "notification": ["type": "string", "description": "The id from the push."],
            "event": ["type": "string", "enum": ["received", "opened"]],
            "at": ["type": "string", "format": "date-time"],
        ])
        return APIOperation(
            .post, "/api/receipts", id: "addReceipts", "Report which notifications were received or opened on a device",
            body: [
                .json(
                    Self.object([
                        "device": ["type": "string", "description": "The id of its registration."],
                        "receipts": Self.array(receipt, count: 1...500),
                    ]))
            ],
            answers: [
                APIAnswer(.noContent, "Receipts for the caller's notifications are stored; the first time counts.")
            ])
    }

    private static func array(_ items: JSON, count: ClosedRange<Int64>? = nil) -> JSON {
        guard let count else { return ["type": "array", "items": items] }
        return [
            "type": "array", "items": items, "minItems": .integer(count.lowerBound),
            "maxItems": .integer(count.upperBound),
        ]
    }
}
