import MartletCore
import MartletHTTP
import MartletModel
import MartletOpenAPI

extension HubDescription {
    var traces: APIGroup {
        Self.hubGroup(
            "Traces", "Why a notification did or did not reach a device; an extension of the original API.",
            [
                APIOperation(
                    .get, "/{hub}/messages/{id}/devices/{device}", id: "getTrace",
                    "Read why a send did or did not reach one device, from the state at the time of the send",
                    answers: [
                        APIAnswer(
                            .ok,
                            "The trace, also for a device that was not in the audience, was removed, or is unknown.",
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
                "control": [
                    "enum": ["running", "paused", "halted", "canceled", .null],
                    "description": "null if the notification has ended and was not canceled.",
                ],
                "controlledAt": [
                    "type": ["string", "null"], "description": "When the control was last requested; null if never.",
                ],
                "author": [
                    "type": ["string", "null"],
                    "description": "Who asked for it: key:RULE, user:NAME, operator:NAME, administrator, or resend:ID.",
                ],
                "notification": text, "device": text, "verdict": verdict,
                "explanation": list(text, "Sentences for people: the verdict, then each fact."),
                "acceptedAt": timestamp, "expiresAt": timestamp,
                "registrations": list(
                    ["$ref": "#/components/schemas/PushTrace"],
                    "The most informative one first; empty for an unknown device."
                ),
                "receipts": list(
                    object(
                        required: ["registration", "event", "at"],
                        ["registration": text, "event": ["enum": ["received", "opened"]], "at": timestamp]),
                    "The device's own reports."),
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
                    "The tags that decided the expression, and whether the registration had them."),
                "token": ["enum": ["kept", "removed", "quarantined", "moved"]],
                "attempts": list(
                    object(
                        required: ["number", "at", "outcome", "reason"],
                        [
                            "number": number, "at": timestamp, "outcome": text, "reason": text, "origin": text,
                            "status": number, "connection": number,
                        ]), "Empty if the first attempt succeeded; it was made while the page was sent."),
                "messageId": text, "page": page,
                "side": [
                    "enum": ["sample", "rest"],
                    "description":
                        "The side of a canary that the registration is on. Absent for other sends and until it is known.",
                ],
                "nextAttemptAt": [
                    "type": "string", "format": "date-time",
                    "description":
                        "Absent if there is no further attempt, or while the notification is paused or halted.",
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
                "origins": list(text, "The origins to which the page was sent."),
            ])
    }

    private static func list(_ items: JSON, _ text: String) -> JSON {
        ["type": "array", "items": items, "description": .string(text)]
    }
}
