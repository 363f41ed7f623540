import MartletCore
import MartletHTTP
import MartletModel
import MartletOpenAPI

extension HubDescription {
    var audience: APIGroup {
        Self.hubGroup(
            "Audience", "The devices that a send would reach; an extension of the original API.",
            [
                APIOperation(
                    .get, "/{hub}/audience", id: "countAudience",
                    "Count the devices that a send would reach now, by platform and kind",
                    parameters: [
                        APIParameter(.query, "tags", "A tag expression; all devices without it."),
                        APIParameter(
                            .query, "format", "Native sends of one format, or template sends; both without it.",
                            schema: ["type": "string", "enum": .array(formats.map { .string($0) })]),
                    ],
                    answers: [
                        APIAnswer(
                            .ok, "Exact numbers.", .json(["$ref": "#/components/schemas/AudienceCount"]),
                            headers: Self.ids)
                    ])
            ])
    }

    /// The answer to a send with `dryRun`.
    static var dryRunAnswer: APIAnswer {
        APIAnswer(
            .ok, "After a dry run: the predicted result of the send.",
            .json(["$ref": "#/components/schemas/DryRun"]), headers: ids)
    }

    static var dryRun: APIParameter {
        APIParameter(
            .query, "dryRun",
            "Predict the result of the send, without sending; needs no value, and is refused in another spelling.")
    }

    static let audienceSchemas: [String: JSON] = [
        "AudienceCount": object(
            required: ["registrations", "devices", "isOfOneMoment", "platforms"],
            [
                "registrations": count, "devices": count,
                "isOfOneMoment": [
                    "type": "boolean",
                    "description":
                        "Whether no registration of the server changed while it was counted. Otherwise each member was counted with its state when its page was read, as in a send.",
                ],
                "platforms": [
                    "type": "object",
                    "description": "By name of the platform; without platforms on which no device matches.",
                    "additionalProperties": object(
                        required: ["registrations", "devices", "native", "templates"],
                        [
                            "registrations": count, "devices": count,
                            "native": described(count, "Pushes of a native send: each device once."),
                            "templates": described(count, "Pushes of a template send: each registration."),
                        ]),
                ],
            ]),
        "DryRun": object(
            required: [
                "isAccepted", "targeted", "problems", "cautions", "startsAt", "expiresAt", "rollout", "platforms",
            ],
            [
                "isAccepted": ["type": "boolean"], "targeted": described(count, "Pushes."),
                "problems": described(texts, "All that is wrong, the platforms' too; empty where nothing is known."),
                "cautions": described(
                    texts, "What is allowed and may be a mistake, such as properties that no template names."),
                "refusal": refusal,
                "startsAt": timestamp, "expiresAt": timestamp,
                "rollout": [
                    "type": ["object", "null"], "required": ["spec", "rate", "seconds", "sample"],
                    "properties": [
                        "spec": text, "rate": ["type": ["number", "null"]],
                        "sample": [
                            "type": ["integer", "null"],
                            "description": "The number of devices in the sample; approximate if the sample is a share.",
                        ],
                        "seconds": ["type": "number", "description": "The duration of the roll-out, without retries."],
                    ],
                ],
                "audience": ["$ref": "#/components/schemas/AudienceCount"],
                "missingLanguages": described(
                    texts,
                    "Languages of devices in the audience that the message lacks; these devices get its own language."),
                "templatesOnly": described(
                    count, "Devices that a message does not reach, because they have only registrations with templates."
                ),
                "platforms": [
                    "type": "object", "description": "By name of the platform.",
                    "additionalProperties": ["$ref": "#/components/schemas/DryRunPart"],
                ],
            ]),
        ComposedMessageSchema.name: ComposedMessageSchema.schema,
        "Appearance": object(
            required: ["look", "isSilent", "shownBy", "actions", "cautions"],
            [
                "look": described(text, "The kind of device."), "title": text, "subtitle": text, "text": text,
                "picture": text, "link": text, "actions": described(texts, "The titles of buttons."),
                "badge": ["type": "integer"],
                "badgeStep": described(["type": "integer"], "The number that is added to the badge."),
                "sound": text, "isSilent": ["type": "boolean"],
                "shownBy": described(
                    ["enum": ["system", "app"]], "What shows the notification; an app may show something else."),
                "lines": [
                    "type": "object", "properties": ["text": count],
                    "description": "The number of lines of the text that are shown before the notification is opened.",
                ],
                "cautions": [
                    "type": "array",
                    "items": ["enum": .array(Appearance.Caution.allCases.map { .string($0.rawValue) })],
                ],
            ]),
        "DryRunPart": object(
            required: [
                "targeted", "devices", "credential", "payloads", "furtherTemplates", "furtherPushes", "untriedPushes",
                "problems",
            ],
            [
                "targeted": described(count, "Pushes."), "devices": count,
                "credential": object(
                    required: ["state"],
                    [
                        "state": ["enum": ["usable", "missing", "unusable", "unchecked"]],
                        "expiresAt": timestamp,
                    ]),
                "payloads": [
                    "type": "array", "items": payload,
                    "description": "The payloads with the most pushes first, at most 20.",
                ],
                "furtherTemplates": described(count, "The number of further templates, whose payloads are not shown."),
                "furtherPushes": count,
                "untriedPushes": described(
                    count, "Pushes whose payload was not rendered, because there are more than 4096 distinct payloads."),
                "problems": texts,
            ]),
    ]

    private static let text: JSON = ["type": "string"]
    private static let timestamp: JSON = ["type": "string", "format": "date-time"]
    private static let texts: JSON = ["type": "array", "items": ["type": "string"]]
    private static let count: JSON = ["type": "integer", "minimum": 0]

    private static let refusal: JSON = described(
        object(
            required: ["code", "error", "platform", "size", "limit", "isTruncated"],
            [
                "code": ["enum": ["payload-too-large"]],
                "error": described(text, "The sentence; `problems` has it too."), "platform": text,
                "language": described(text, "Absent if the message states none."),
                "size": described(count, "In bytes."), "limit": described(count, "In bytes."),
                "isTruncated": described(
                    ["type": "boolean"], "Whether the message has `truncate`; it does not fit even without its text."),
            ]),
        "Why the send would be refused, if there is a code for it.")

    private static var payload: JSON {
        object(
            required: ["pushes", "renderings"],
            [
                "pushes": count,
                "renderings": described(count, "Distinct payloads of the template; the largest is shown."),
                "template": object(required: ["body"], ["name": text, "body": text]),
                "size": described(count, "In bytes; absent if the template cannot be rendered."),
                "fields": ["type": "object", "additionalProperties": text], "body": text, "base64": text,
                "language": described(text, "The language, for the format `message`."),
                "appearance": [
                    "description": "What a device shows for the payload; null if its bytes do not determine it.",
                    "anyOf": [["$ref": "#/components/schemas/Appearance"], ["type": "null"]],
                ],
            ])
    }

    private static func described(_ schema: JSON, _ text: String) -> JSON {
        guard case .object(var members) = schema else { return schema }
        members["description"] = .string(text)
        return .object(members)
    }
}
