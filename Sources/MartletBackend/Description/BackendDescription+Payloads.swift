import MartletHTTP
import MartletModel
import MartletOpenAPI

extension BackendDescription {
    var payloads: APIGroup {
        APIGroup(
            "Payloads", "Content that stays here, for its addressees to fetch, while pushes carry its id.",
            security: [Scheme.basic, Scheme.session], answers: Self.commonAnswers,
            operations: [
                sendRich, sendSecure, fetch(.get, id: "getNotification", "Fetch what a push has named"),
                fetch(.head, id: "headNotification", "Ask what there is, without reading it"), listReaders,
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
                    .contentTooLarge, "The payload is too large, the sender is over quota, or pushes have no room."),
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
                    .contentTooLarge, "The payload is too large, the sender is over quota, or pushes have no room.")
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
                    .ok, "A rich notification's content, by its own media type; of others the content in JSON.",
                    .json(Self.fetched), APIContent("*/*"), headers: Self.privacy),
                APIAnswer(206, "The part of a rich notification.", APIContent("*/*"), headers: Self.privacy),
                APIAnswer(304, "It is the version that the caller has."),
                Self.refusal(.preconditionFailed, "It is another version (`If-Match`)."),
                Self.refusal(416, "The range lies outside."),
            ])
    }

    private var listReaders: APIOperation {
        let reader = Self.object(["user": Self.string, "read": ["type": ["string", "null"], "format": "date-time"]])
        return APIOperation(
            .get, "/api/notifications/{id}/readers", id: "listReaders", "Learn who has read what you have sent",
            parameters: [Self.id, APIParameter(.query, "after", "`next` of the page before.")],
            answers: [
                APIAnswer(
                    .ok, "The addressees by name, and when each has read it first; `next` where there are more.",
                    .json([
                        "type": "object", "required": ["readers"],
                        "properties": ["readers": ["type": "array", "items": reader], "next": Self.string],
                    ]))
            ])
    }

    // MARK: Parts

    private static let id = APIParameter(
        .path, "id", "As pushes carry it.", schema: ["type": "integer", "minimum": 1, "maximum": 2_147_483_647])
    private static let string: JSON = ["type": "string"]
    private static let word: JSON = ["type": "string", "pattern": "^[a-z0-9-]{1,32}$"]
    private static let users: JSON = [
        "type": ["string", "array", "null"], "items": ["type": "string"], "minItems": 1, "maxItems": 100,
        "description": "Users by name; the caller where neither this nor `tags` is given.",
    ]
    private static let listedUsers: JSON = [
        "type": "string",
        "description":
            "Users by name, with commas between or repeated; the caller where neither this nor `tags` is given.",
    ]

    /// The schema of a request that sends: the payload and its recipients.
    private static func order(_ members: [String: JSON], _ required: JSON) -> JSON {
        var members = members
        members["tags"] = ["type": "string", "description": "A tag expression, for who may use one."]
        members["expiresIn"] = [
            "type": "integer", "minimum": .integer(PayloadLifetime.seconds.lowerBound),
            "maximum": .integer(PayloadLifetime.seconds.upperBound), "description": "Seconds.",
        ]
        return ["type": "object", "required": [required], "properties": .object(members)]
    }

    private static let sent = [
        APIAnswer(
            .created, "It is kept and its id goes out; that there are such users is not said.",
            .json(object(["id": ["type": "integer"]])),
            headers: [APIParameter(.header, "Location", isRequired: true)]),
        refusal(.forbidden, "You may not send to these."), keyReused,
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
