import MartletCore
import MartletHTTP
import MartletModel
import MartletOpenAPI

extension HubDescription {
    var audience: APIGroup {
        Self.hubGroup(
            "Audience", "Whom a send would reach; the original hub has no such thing.",
            [
                APIOperation(
                    .get, "/{hub}/audience", id: "countAudience",
                    "Count whom a send that begins now reaches, by platform and kind",
                    parameters: [
                        APIParameter(.query, "tags", "A tag expression; everybody without it."),
                        APIParameter(
                            .query, "format", "Native sends of one format, or those of templates; both without it.",
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
            .ok, "After a dry run: what the send would do and come to.",
            .json(["$ref": "#/components/schemas/DryRun"]), headers: ids)
    }

    static var dryRun: APIParameter {
        APIParameter(
            .query, "dryRun",
            "Tell what the send would do, and do nothing; needs no value, and is refused in another spelling.")
    }

    static let audienceSchemas: [String: JSON] = [
        "AudienceCount": object(
            required: ["registrations", "devices", "isOfOneMoment", "platforms"],
            [
                "registrations": count, "devices": count,
                "isOfOneMoment": [
                    "type": "boolean",
                    "description":
                        "Whether no registration of the server changed while it was counted. Otherwise each member was counted by what it was when its page was read, as a send would.",
                ],
                "platforms": [
                    "type": "object", "description": "By name of the platform; none of those on which nobody matches.",
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
                "startsAt": timestamp, "expiresAt": timestamp,
                "rollout": [
                    "type": ["object", "null"], "required": ["spec", "rate", "seconds", "sample"],
                    "properties": [
                        "spec": text, "rate": ["type": ["number", "null"]],
                        "sample": [
                            "type": ["integer", "null"],
                            "description": "How many get it first, about as many where a share is asked for.",
                        ],
                        "seconds": ["type": "number", "description": "How long it takes, without retries."],
                    ],
                ],
                "audience": ["$ref": "#/components/schemas/AudienceCount"],
                "missingLanguages": described(
                    texts,
                    "Of devices in the audience, which get a message in its own language because it lacks theirs."),
                "templatesOnly": described(count, "Devices that a message does not reach: they have templates alone."),
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
                "badgeStep": described(["type": "integer"], "What is added to the badge."),
                "sound": text, "isSilent": ["type": "boolean"],
                "shownBy": described(["enum": ["system", "app"]], "The app may show something else."),
                "lines": [
                    "type": "object", "properties": ["text": count],
                    "description": "How many lines of the text are shown before the notification is opened.",
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
                    "description": "Those with the most pushes first, at most 20.",
                ],
                "furtherTemplates": described(count, "Of which no payload is shown."), "furtherPushes": count,
                "untriedPushes": described(count, "Whose payload was not made: more than 4096 are distinct."),
                "problems": texts,
            ]),
    ]

    private static let text: JSON = ["type": "string"]
    private static let timestamp: JSON = ["type": "string", "format": "date-time"]
    private static let texts: JSON = ["type": "array", "items": ["type": "string"]]
    private static let count: JSON = ["type": "integer", "minimum": 0]

    private static var payload: JSON {
        object(
            required: ["pushes", "renderings"],
            [
                "pushes": count,
                "renderings": described(count, "Distinct payloads of the template; the largest is shown."),
                "template": object(required: ["body"], ["name": text, "body": text]),
                "size": described(count, "In bytes; missing where nothing can be made of the template."),
                "fields": ["type": "object", "additionalProperties": text], "body": text, "base64": text,
                "language": described(text, "Of a message."),
                "appearance": [
                    "description": "What a device shows of it; null where that cannot be told from its bytes.",
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
