import MartletHTTP
import MartletModel
import MartletOpenAPI

extension BackendDescription {
    var payloads: APIGroup {
        APIGroup(
            "Payloads", "Content that stays on the server; pushes carry its id, and the recipients fetch it.",
            security: [Scheme.basic, Scheme.session], answers: Self.commonAnswers,
            operations: [
                sendRich, sendSecure, fetch(.get, id: "getNotification", "Fetch the content of a push"),
                fetch(.head, id: "headNotification", "Get the headers, without reading the content"), listReaders,
            ])
    }

    private var sendRich: APIOperation {
        let file: JSON = ["type": "string", "contentMediaType": "application/octet-stream"]
        let payload: JSON = ["type": "string", "contentEncoding": "base64"]
        return APIOperation(
            .post, "/api/notifications/rich", id: "sendRich", "Send content of any media type",
            parameters: [Self.idempotencyKey],
            body: [
                APIContent(
                    "multipart/form-data",
                    Self.order(
                        ["file": file, "to": Self.listedUsers, "message": Self.string, "type": Self.word], "file")),
                .json(
                    Self.order(
                        [
                            "payload": payload, "contentType": Self.string, "to": Self.users, "message": Self.string,
                            "type": Self.word,
                        ], "payload")),
            ],
            answers: Self.sent + [
                Self.refusal(
                    .contentTooLarge,
                    "The payload is too large, the sender is over quota, or the message does not fit into the push."),
                Self.refusal(415, "Neither a form nor JSON, or encoded."),
            ])
    }

    private var sendSecure: APIOperation {
        APIOperation(
            .post, "/api/notifications/secure", id: "sendSecure", "Send a text that no push service sees",
            parameters: [Self.idempotencyKey],
            body: [
                .json(
                    Self.order(
                        [
                            "payload": Self.string, "to": Self.users, "message": Self.string,
                            "once": ["type": ["boolean", "null"]],
                        ], "payload"),
                    example: ["to": ["alice"], "payload": "The code is 4711.", "once": true])
            ],
            answers: Self.sent + [
                Self.refusal(
                    .contentTooLarge,
                    "The payload is too large, the sender is over quota, or the message does not fit into the push.")
            ])
    }

    private func fetch(_ method: HTTPMethod, id: String, _ summary: String) -> APIOperation {
        APIOperation(
            method, "/api/notifications/{id}", id: id, summary,
            parameters: [
                Self.id, APIParameter(.header, "Range"), APIParameter(.header, "If-Range"),
                APIParameter(.header, "If-Match"), APIParameter(.header, "If-None-Match"),
            ],
            answers: [
                APIAnswer(
                    .ok,
                    "The content of a rich notification with its media type; for other notifications, the content in JSON.",
                    .json(Self.fetched), APIContent("*/*"), headers: Self.privacy),
                APIAnswer(206, "The part of a rich notification.", APIContent("*/*"), headers: Self.privacy),
                APIAnswer(304, "It is the version that the caller has."),
                Self.refusal(.preconditionFailed, "It is another version (`If-Match`)."),
                Self.refusal(416, "The range is outside the content."),
            ])
    }

    private var listReaders: APIOperation {
        let reader = Self.object(["user": Self.string, "read": ["type": ["string", "null"], "format": "date-time"]])
        return APIOperation(
            .get, "/api/notifications/{id}/readers", id: "listReaders",
            "List the recipients of a notification that you sent, and who has read it",
            parameters: [Self.id, APIParameter(.query, "after", "The value `next` of the previous page.")],
            answers: [
                APIAnswer(
                    .ok, "The recipients by name, and when each first read it; `next` if there are more.",
                    .json([
                        "type": "object", "required": ["readers"],
                        "properties": ["readers": ["type": "array", "items": reader], "next": Self.string],
                    ]))
            ])
    }

    // MARK: Parts

    private static let id = APIParameter(
        .path, "id", "The id from the push.", schema: ["type": "integer", "minimum": 1, "maximum": 2_147_483_647])
    private static let string: JSON = ["type": "string"]
    private static let word: JSON = ["type": "string", "pattern": "^[a-z0-9-]{1,32}$"]
    private static let users: JSON = [
        "type": ["string", "array", "null"], "items": ["type": "string"], "minItems": 1, "maxItems": 100,
        "description": "Users by name; the caller if neither this nor `tags` is given.",
    ]
    private static let listedUsers: JSON = [
        "type": "string",
        "description":
            "Users by name, with commas between or repeated; the caller if neither this nor `tags` is given.",
    ]

    /// Returns the schema of a request that sends a payload: the given members, `tags` and `expiresIn`.
    private static func order(_ members: [String: JSON], _ required: JSON) -> JSON {
        var members = members
        members["tags"] = ["type": "string", "description": "A tag expression; needs the role admin."]
        members["expiresIn"] = [
            "type": "integer", "minimum": .integer(PayloadLifetime.seconds.lowerBound),
            "maximum": .integer(PayloadLifetime.seconds.upperBound), "description": "Seconds.",
        ]
        return ["type": "object", "required": [required], "properties": .object(members)]
    }

    private static let sent = [
        APIAnswer(
            .created, "The content is stored and its id is sent; the answer does not say whether the users exist.",
            .json(object(["id": ["type": "integer"]])),
            headers: [APIParameter(.header, "Location", isRequired: true)]),
        refusal(.forbidden, "The caller may not send to these recipients."), keyReused,
    ]

    private static let fetched: JSON = [
        "type": "object", "required": ["Id", "Read"],
        "properties": [
            "Id": ["type": "integer"], "Payload": string, "Device": string,
            "Ciphertext": ["type": "string", "contentEncoding": "base64"],
            "Read": ["type": "boolean", "description": "Whether the caller had read it before."],
        ],
    ]

    private static let privacy = [
        APIParameter(.header, "Cache-Control", isRequired: true),
        APIParameter(.header, "X-Content-Type-Options", isRequired: true),
        APIParameter(.header, "Content-Security-Policy", isRequired: true),
    ]
}
