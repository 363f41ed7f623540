import MartletCore
import MartletHTTP
import MartletModel
import MartletOpenAPI

extension HubDescription {
    var control: APIGroup {
        Self.hubGroup(
            "Control", "Pausing, canceling and watching a send; an extension of the original API.",
            [
                change("cancel", "Cancel a send: it is sent to no further device"),
                change("pause", "Pause a send until it is resumed"),
                change(
                    "resume",
                    "Continue a send that is paused or halted, where it stopped; release the rest of a canary that holds"
                ),
                APIOperation(
                    .get, "/{hub}/messages/{id}/status", id: "getStatus", "Read the state and the numbers of a send",
                    answers: [Self.status("The state of the send.")]),
            ])
    }

    private func change(_ word: String, _ summary: String) -> APIOperation {
        APIOperation(
            .post, "/{hub}/messages/{id}/\(word)", id: "\(word)Message", summary,
            answers: [
                Self.status("The change is in force; also if it was before."),
                Self.error(.conflict, "The notification has ended."),
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
                "control": [
                    "enum": ["running", "holding", "paused", "halted", "canceled", .null],
                    "description": "Null for a notification that has ended, unless it was canceled.",
                ],
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
                "goesOnAt": orNull("string", "When a canary that holds continues by itself."),
                "waitsFor": [
                    "enum": ["answers"],
                    "description": "The wait is over, but too few pushes of the sample have a final result.",
                ],
                "sample": object(
                    required: ["size", "targeted", "succeeded", "failed", "retrying"],
                    [
                        "size": orNull("integer", "Null while unknown."),
                        "targeted": orNull("integer", "Null while unknown."),
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
            "targeted": orNull(
                "integer", "Null while unknown, and if the notification was canceled before it began."),
            "sent": ["type": "integer"],
            "succeeded": ["type": "integer"], "failed": ["type": "integer"], "retrying": ["type": "integer"],
            "suppressed": [
                "type": "integer",
                "description": "Devices that were not sent to, because the notification was canceled or superseded.",
            ],
            "skipped": [
                "type": "integer",
                "description":
                    "Devices that were not sent to for another reason, such as a second registration of one handle.",
            ],
            "pending": orNull("integer", "Null while unknown."),
            "outcomes": ["type": "object", "additionalProperties": ["type": "integer"]],
        ]
    }

    private static func orNull(_ type: String, _ text: String? = nil) -> JSON {
        var members: [String: JSON] = ["type": [.string(type), "null"]]
        members["description"] = text.map { .string($0) }
        return .object(members)
    }
}
