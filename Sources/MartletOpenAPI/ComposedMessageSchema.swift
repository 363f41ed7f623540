public import MartletModel

/// The JSON Schema of a composed message, for the hub's API and the app backend.
public enum ComposedMessageSchema {
    public static let name = "Message"

    public static let reference: JSON = ["$ref": .string("#/components/schemas/\(name)")]

    public static let example: JSON = [
        "title": ["en": "Half price until noon", "de": "Bis Mittag zum halben Preis"],
        "text": ["en": "$(name), every bike in the shop", "de": "$(name), jedes Rad im Laden"], "language": "en",
        "variables": ["name": "Hello"], "link": "https://shop.example/sale",
    ]

    public static let schema: JSON = [
        "type": "object", "additionalProperties": false,
        "description":
            "One message for every platform. It has a title or a text, unless it is silent or every platform has a payload.",
        "properties": [
            "title": localized(1024), "subtitle": localized(1024), "text": localized(16_384),
            "language": [
                "type": "string", "maxLength": 35,
                "description":
                    "The language for devices without a language tag, or with one that the message lacks. Every text by language includes it.",
            ],
            "variables": [
                "type": "object", "maxProperties": 20, "additionalProperties": ["type": "string"],
                "description":
                    "The default for `$(name)` in title, subtitle and text, for a device without this push variable.",
            ],
            "link": ["type": "string", "format": "uri", "maxLength": 2048],
            "picture": ["type": "string", "format": "uri", "maxLength": 2048, "description": "An https address."],
            "sound": ["type": "string", "description": "`default`, `none`, or the name of a sound of the app."],
            "badge": [
                "description": "A number, or `+1`: an increment that the app's own code adds.",
                "anyOf": [["type": "integer", "minimum": 0, "maximum": 99_999], ["const": "+1"]],
            ],
            "data": [
                "type": "object", "maxProperties": 32, "additionalProperties": ["type": "string"],
                "description": "Texts for the app.",
            ],
            "actions": [
                "type": "array", "maxItems": 3,
                "items": [
                    "type": "object", "required": ["id", "title"], "additionalProperties": false,
                    "properties": [
                        "id": ["type": "string", "pattern": "^[A-Za-z0-9_-]{1,32}$"], "title": localized(1024),
                        "link": ["type": "string", "format": "uri", "maxLength": 2048],
                    ],
                ],
            ],
            "priority": ["enum": ["low", "normal", "high"]], "thread": key, "collapse": key,
            "silent": ["type": "boolean", "description": "The device passes the data to the app and shows nothing."],
            "truncate": [
                "type": "boolean",
                "description":
                    "Cut text and title if the payload is too large for a platform. Otherwise the send is refused.",
            ],
            "platforms": [
                "type": "object",
                "description":
                    "Overrides by the name of the platform: `false` leaves it out, `merge` changes the payload (RFC 7396), `payload` replaces it.",
                "additionalProperties": [
                    "anyOf": [
                        ["const": false],
                        [
                            "type": "object", "additionalProperties": false,
                            "properties": [
                                "merge": ["type": "object"], "payload": ["type": ["string", "object"]],
                                "headers": ["type": "object", "additionalProperties": ["type": "string"]],
                            ],
                        ],
                    ]
                ],
            ],
        ],
    ]

    private static let key: JSON = ["type": "string", "pattern": "^[!-~]{1,64}$"]

    /// Returns the schema of a text that may be given in several languages.
    /// - Parameter limit: The maximum size of each text, in bytes.
    private static func localized(_ limit: Int) -> JSON {
        [
            "description": .string("A text, or texts by language tag; at most \(limit) bytes."),
            "anyOf": [
                ["type": "string", "minLength": 1],
                ["type": "object", "maxProperties": 40, "additionalProperties": ["type": "string", "minLength": 1]],
            ],
        ]
    }
}
