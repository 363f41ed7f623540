import MartletHTTP
import MartletModel
import MartletOpenAPI

extension HubDescription {
    var deadLetters: APIGroup {
        Self.hubGroup(
            "Dead letters", "Pushes that ended without success; an extension of the original API.",
            [
                APIOperation(
                    .get, "/{hub}/deadletters", id: "listDeadLetters", "List the sends that have dead letters",
                    parameters: [Self.continuation],
                    answers: [
                        APIAnswer(
                            .ok, "Oldest first.", .json(["$ref": "#/components/schemas/DeadLetterSends"]),
                            headers: Self.ids)
                    ]),
                APIOperation(
                    .get, "/{hub}/messages/{id}/deadletters", id: "getDeadLetters", "Read the dead letters of a send",
                    parameters: [Self.continuation],
                    answers: [
                        APIAnswer(
                            .ok, "Without handles and payloads.", .json(["$ref": "#/components/schemas/DeadLetters"]),
                            headers: Self.ids)
                    ]),
                APIOperation(
                    .post, "/{hub}/messages/{id}/deadletters/resend", id: "resendDeadLetters",
                    "Resend the dead letters, as a new send to those of their devices that are still in the audience",
                    parameters: [
                        APIParameter(
                            .query, "outcome",
                            "Only dead letters with this outcome. Default: all that were not resent before.")
                    ],
                    answers: [
                        APIAnswer(
                            .created, "Accepted and stored.",
                            .json(Self.object(required: ["notification"], ["notification": Self.string])),
                            headers: Self.ids + [Self.location]),
                        Self.error(
                            .conflict, "The send has not ended, has no such dead letters, or they were resent before."),
                    ]),
            ])
    }

    private static let continuation = APIParameter(
        .query, "continuation", "The token from the previous page.")

    static let deadLetterSchemas: [String: JSON] = [
        "DeadLetterSends": object(
            required: ["notifications"],
            ["notifications": ["type": "array", "items": object(required: required, summary)], "continuation": string]),
        "DeadLetters": object(
            required: required + ["deadLetters"],
            summary.merging([
                "deadLetters": ["type": "array", "items": letter], "continuation": string,
            ]) { $1 }),
    ]

    private static let string: JSON = ["type": "string"]
    private static let count: JSON = ["type": "integer"]
    private static let required: [JSON] = ["notification", "acceptedAt", "state", "platforms", "resends"]
    private static let summary: [String: JSON] = [
        "notification": string, "acceptedAt": ["type": "string", "format": "date-time"], "state": string,
        "resends": [
            "type": "array",
            "items": object(
                required: ["notification", "outcome"],
                ["notification": string, "outcome": ["type": ["string", "null"]]]),
        ],
        "platforms": [
            "type": "object", "additionalProperties": ["type": "object", "additionalProperties": count],
            "description":
                "The number of pushes by outcome. Devices that were left out are counted, but are no dead letters.",
        ],
    ]
    private static var letter: JSON {
        object(
            required: ["platform", "outcome", "reason", "at", "attempts", "token"],
            [
                "platform": string, "outcome": string, "reason": string,
                "at": ["type": "string", "format": "date-time"], "attempts": count,
                "token": ["enum": ["kept", "removed", "quarantined", "moved"]], "registration": string,
                "installation": string, "status": count, "resentAs": string,
            ])
    }
}
