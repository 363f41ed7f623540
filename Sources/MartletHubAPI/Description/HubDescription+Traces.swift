import MartletCore
import MartletHTTP
import MartletModel
import MartletOpenAPI

extension HubDescription {
    var traces: APIGroup {
        Self.hubGroup(
            "Traces", "Why a notification did or did not reach a device; the original hub has no such thing.",
            [
                APIOperation(
                    .get, "/{hub}/messages/{id}/devices/{device}", id: "getTrace",
                    "Read what became of a send on one device, by what was true when it was sent",
                    answers: [
                        APIAnswer(
                            .ok, "Also of a device that was not in the audience, that is gone or that nobody knows.",
                            .json(["$ref": "#/components/schemas/DeviceTrace"]), headers: Self.ids)
                    ])
            ])
    }

    static let traceSchemas: [String: JSON] = [
        "DeviceTrace": object(
            required: [
                "notification", "device", "verdict", "explanation", "acceptedAt", "expiresAt", "registrations",
                "receipts", "control", "controlledAt", "author",
            ],
            [
                "control": ["enum": ["running", "paused", "halted", "canceled"]],
                "controlledAt": [
                    "type": ["string", "null"], "description": "When that was wished last; null where nobody has.",
                ],
                "author": [
                    "type": ["string", "null"],
                    "description": "Who asked for it: key:RULE, user:NAME, operator:NAME, administrator, or resend:ID.",
                ],
                "notification": text, "device": text, "verdict": verdict,
                "explanation": list(text, "For people: the verdict, then a sentence for each fact."),
                "acceptedAt": timestamp, "expiresAt": timestamp,
                "registrations": list(
                    ["$ref": "#/components/schemas/PushTrace"],
                    "What tells most first; none of a device that nobody knows."
                ),
                "receipts": list(
                    object(
                        required: ["registration", "event", "at"],
                        ["registration": text, "event": ["enum": ["received", "opened"]], "at": timestamp]),
                    "What the device said itself."),
            ]),
        "PushTrace": object(
            required: [
                "registration", "platform", "kind", "createdAt", "verdict", "isInAudience", "token", "attempts",
            ],
            [
                "registration": text, "installation": text, "platform": text, "kind": ["enum": ["native", "template"]],
                "createdAt": timestamp, "verdict": verdict, "isInAudience": ["type": "boolean"], "expression": text,
                "decidedBy": list(
                    object(required: ["tag", "isPresent"], ["tag": text, "isPresent": ["type": "boolean"]]),
                    "The tags that the registration had or lacked, and by which the expression was decided."),
                "token": ["enum": ["kept", "removed", "quarantined", "moved"]],
                "attempts": list(
                    object(
                        required: ["number", "at", "outcome", "reason"],
                        [
                            "number": number, "at": timestamp, "outcome": text, "reason": text, "origin": text,
                            "status": number, "connection": number,
                        ]), "None where the first one was taken: that was in the time of the page."),
                "messageId": text, "page": page,
                "nextAttemptAt": [
                    "type": "string", "format": "date-time",
                    "description": "Missing where none is to come, and while nothing of the notification is sent.",
                ],
                "payload": object(
                    required: ["sha256", "size"],
                    [
                        "sha256": text, "size": number, "body": text, "base64": text,
                        "appearance": ["anyOf": [["$ref": "#/components/schemas/Appearance"], ["type": "null"]]],
                    ]),
                "since": object(
                    required: ["at", "what"],
                    [
                        "at": timestamp,
                        "what": ["enum": ["changed", "deleted", "taken", "unregistered", "moved", "expired"]],
                    ]),
            ]),
    ]

    private static let text: JSON = ["type": "string"]
    private static let number: JSON = ["type": "integer"]
    private static let timestamp: JSON = ["type": "string", "format": "date-time"]
    private static var verdict: JSON { ["enum": .array(TraceVerdict.allCases.map { .string($0.rawValue) })] }
    private static var page: JSON {
        object(
            required: ["startedAt", "endedAt", "outcomes", "origins"],
            [
                "startedAt": timestamp, "endedAt": timestamp,
                "outcomes": ["type": "object", "additionalProperties": number],
                "origins": list(text, "Where the page was sent to."),
            ])
    }

    private static func list(_ items: JSON, _ text: String) -> JSON {
        ["type": "array", "items": items, "description": .string(text)]
    }
}
