import MartletCore
import MartletHTTP
import MartletModel
import MartletOpenAPI

extension HubDescription {
    var control: APIGroup {
        Self.hubGroup(
            "Control", "Holding, ending and watching a send under way; the original hub has no such thing.",
            [
                change("cancel", "End it: devices that have not been sent it get nothing"),
                change("pause", "Send nothing more of it until it is resumed"),
                change(
                    "resume",
                    "Let what is paused, or has halted itself, go on where it stood; a canary that holds is let go"),
                APIOperation(
                    .get, "/{hub}/messages/{id}/status", id: "getStatus", "Read how a send stands, in numbers",
                    answers: [Self.status("How it stands.")]),
            ])
    }

    private func change(_ word: String, _ summary: String) -> APIOperation {
        APIOperation(
            .post, "/{hub}/messages/{id}/\(word)", id: "\(word)Message", summary,
            answers: [
                Self.status("It is so from now on; also where it was before."),
                Self.error(.conflict, "The notification is over."),
            ])
    }

    private static func status(_ text: String) -> APIAnswer {
        APIAnswer(.ok, text, .json(["$ref": "#/components/schemas/SendStatus"]), headers: ids)
    }

    static let controlSchemas: [String: JSON] = [
        "SendStatus": object(
            required: names + [
                "notification", "control", "controlledAt", "acceptedAt", "dueAt", "expiresAt", "rollout", "platforms",
                "author",
            ],
            numbers.merging([
                "notification": ["type": "string"],
                "control": ["enum": ["running", "holding", "paused", "halted", "canceled"]],
                "author": orNull(
                    "string", "Who asked for it: key:RULE, user:NAME, operator:NAME, administrator, or resend:ID."),
                "controlledAt": orNull("string"), "acceptedAt": ["type": "string"], "dueAt": orNull("string"),
                "expiresAt": ["type": "string"],
                "rollout": [
                    "type": ["object", "null"], "required": ["spec", "audience", "rate", "halt"],
                    "properties": [
                        "spec": ["type": "string"], "audience": orNull("integer"), "rate": orNull("number"),
                        "halt": ["type": ["object", "null"]],
                    ],
                ],
                "goesOnAt": orNull("string", "When a canary that holds goes on by itself."),
                "waitsFor": [
                    "enum": ["answers"],
                    "description": "Its time to wait is over, but too few pushes of its sample have ended.",
                ],
                "sample": object(
                    required: ["size", "targeted", "succeeded", "failed", "retrying"],
                    [
                        "size": orNull("integer", "Null while it is not known."),
                        "targeted": orNull("integer", "Null while it is not known."),
                        "succeeded": ["type": "integer"], "failed": ["type": "integer"],
                        "retrying": ["type": "integer"],
                    ]),
                "partsWaiting": ["type": "integer", "description": "Parts of the notification that have not begun."],
                "platforms": [
                    "type": "object", "additionalProperties": ["$ref": "#/components/schemas/PlatformStatus"],
                ],
            ]) { $1 }),
        "PlatformStatus": object(required: names, numbers),
    ]

    private static var names: [JSON] { numbers.keys.sorted().map { .string($0) } }

    private static var numbers: [String: JSON] {
        [
            "state": [
                "enum": [
                    "Scheduled", "Enqueued", "Processing", "Completed", "NoTargetFound", "Abandoned", "Canceled",
                ]
            ],
            "startedAt": orNull("string"), "endedAt": orNull("string"),
            "targeted": orNull("integer", "Null while it is not known."), "sent": ["type": "integer"],
            "succeeded": ["type": "integer"], "failed": ["type": "integer"], "retrying": ["type": "integer"],
            "suppressed": [
                "type": "integer",
                "description": "Sent nothing, because it was canceled or a newer one took its place.",
            ],
            "skipped": ["type": "integer", "description": "Sent nothing, as another registration was, or needlessly."],
            "pending": orNull("integer", "Null while it is not known."),
            "outcomes": ["type": "object", "additionalProperties": ["type": "integer"]],
        ]
    }

    private static func orNull(_ type: String, _ text: String? = nil) -> JSON {
        var members: [String: JSON] = ["type": [.string(type), "null"]]
        members["description"] = text.map { .string($0) }
        return .object(members)
    }
}
