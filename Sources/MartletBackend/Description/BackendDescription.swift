import MartletCore
import MartletHTTP
import MartletModel
import MartletOpenAPI

/// The app backend's API, described.
struct BackendDescription {
    let platforms: PushPlatformList

    /// Where the document is served, to anybody.
    static let path = "/\(Backend.pathPrefix)/openapi.json"

    enum Scheme {
        static let basic = "Basic"
        static let session = "Session"
    }

    var description: APIDescription {
        APIDescription(
            title: "Martlet app backend", text: Self.text, version: "1",
            securitySchemes: [
                Scheme.basic: ["type": "http", "scheme": "basic", "description": "User and password."],
                Scheme.session: [
                    "type": "http", "scheme": "bearer",
                    "description": "The token of a session, or one of the identity provider's.",
                ],
            ],
            schemas: ["Error": Self.errorSchema, ComposedMessageSchema.name: ComposedMessageSchema.schema],
            groups: [
                APIGroup(
                    "Sessions", "Logging in and out.", security: [Scheme.session], answers: Self.commonAnswers,
                    operations: [openSession, closeSession]),
                APIGroup(
                    "Devices", "Registering devices for the user who asks.", security: [Scheme.basic, Scheme.session],
                    answers: Self.commonAnswers, operations: [newID, putDevice, deleteDevice]),
                APIGroup(
                    "Notifications", "Notifying users by name.", security: [Scheme.basic, Scheme.session],
                    answers: Self.commonAnswers, operations: [notify, sendMessage]),
                payloads,
                APIGroup(
                    "Encryption", "Notifying devices so that nobody on the way can read it.",
                    security: [Scheme.basic, Scheme.session], answers: Self.commonAnswers,
                    operations: [deviceKeys, sendEncrypted]),
                APIGroup(
                    "Receipts", "What became of notifications.", security: [Scheme.basic, Scheme.session],
                    answers: Self.commonAnswers, operations: [addReceipts]),
                APIGroup(
                    "Description", "What this server serves.", security: [], answers: [],
                    operations: [
                        APIOperation(
                            .get, Self.path, id: "getDescription", "Read this document",
                            answers: [APIDescription.answer])
                    ]),
            ])
    }

    private static let text = """
        Users log in, register their devices and notify each other by name. A refusal is `{"code", "message"}`, with a \
        number that stays the same and a sentence; a request that HTTP itself does not allow is refused in plain text.
        """

    // MARK: Operations

    private var openSession: APIOperation {
        APIOperation(
            .post, "/api/sessions", id: "openSession", "Log in", security: [],
            body: [
                .json(
                    Self.object(["user": ["type": "string"], "password": ["type": "string"]]),
                    example: ["user": "alice", "password": "wonderland"])
            ],
            answers: [
                APIAnswer(
                    .created, "The session.",
                    .json(
                        Self.object([
                            "token": ["type": "string"], "expires": ["type": "string", "format": "date-time"],
                        ])))
            ])
    }

    private var closeSession: APIOperation {
        APIOperation(
            .delete, "/api/sessions", id: "closeSession", "Log out",
            answers: [APIAnswer(.noContent, "The session has ended.")])
    }

    private var newID: APIOperation {
        let id: JSON = ["type": "string", "minLength": 1]
        return APIOperation(
            .post, "/api/register", id: "newRegistrationId", "Get an id to register a device with",
            parameters: [
                APIParameter(.query, "handle", "Of a device that may be registered: then its id, and none else stays.")
            ],
            answers: [
                APIAnswer(
                    .ok, "The id, as text without quotes for who asks for that with `Accept`.", .json(id),
                    APIContent("text/plain", id))
            ])
    }

    private var putDevice: APIOperation {
        let names = platforms.names
        let tags: JSON = ["type": ["array", "null"], "items": ["type": "string"]]
        return APIOperation(
            .put, "/api/register/{id}", id: "putDevice", "Register a device under an id", parameters: [Self.id],
            body: [
                .json([
                    "type": "object", "required": ["Platform", "Handle"],
                    "properties": [
                        "Platform": ["type": "string", "enum": .array(names.map { .string($0) })],
                        "Handle": ["type": "string", "minLength": 1], "Tags": tags,
                        "Language": [
                            "type": ["string", "null"], "maxLength": 35,
                            "description":
                                "A language tag such as `de-AT`: what messages with several languages are shown in.",
                        ],
                        "PublicKey": Self.key("A point of P-256, uncompressed, in base64url.", length: 87),
                        "AuthSecret": Self.key("16 bytes in base64url.", length: 22),
                    ],
                ])
            ], answers: [APIAnswer(.ok, "It is registered."), Self.refusal(.gone, "Ask for a new id.")])
    }

    private var deleteDevice: APIOperation {
        APIOperation(
            .delete, "/api/register/{id}", id: "deleteDevice", "Forget a device", parameters: [Self.id],
            answers: [APIAnswer(.ok, "It is gone.")])
    }

    private var notify: APIOperation {
        APIOperation(
            .post, "/api/notifications", id: "notify", "Notify a user",
            parameters: [
                APIParameter(
                    .query, "pns",
                    "The platform; `all` stands for every one that the hub can send to. Without both, where the server was "
                        + "told to, a sample goes out."),
                APIParameter(.query, "to_tag", "The user's name."), Self.idempotencyKey,
            ], body: [.json(["type": "string"], example: "hello")],
            answers: [
                APIAnswer(
                    .ok, "The message is stored and goes out; that there is such a user is not said.",
                    .json([
                        "type": "object", "required": ["id"],
                        "properties": [
                            "id": ["type": ["string", "integer"]],
                            "ids": [
                                "type": "object", "description": "With `all`: the ids by platform.",
                                "additionalProperties": ["type": "string"],
                            ],
                        ],
                    ])),
                Self.refusal(.forbidden, "You may not send to this user."), Self.keyReused,
            ])
    }

    private var sendMessage: APIOperation {
        APIOperation(
            .post, "/api/notifications/message", id: "sendMessage",
            "Notify users with one message for all platforms. Who is no admin may set text, language, data and thread; the "
                + "title is the sender's name",
            parameters: [Self.idempotencyKey],
            body: [
                .json(
                    [
                        "type": "object", "required": ["message"], "additionalProperties": false,
                        "properties": [
                            "to": ["type": ["array", "string", "null"], "items": ["type": "string"]],
                            "tags": ["type": ["string", "null"]], "message": ComposedMessageSchema.reference,
                        ],
                    ], example: ["to": ["alice"], "message": ["text": "hello"]])
            ],
            answers: [
                APIAnswer(
                    .created, "The message is stored and goes out; that there are such users is not said.",
                    .json(Self.object(["id": ["type": "string"]]))),
                Self.refusal(.forbidden, "You may not send to whom it names, or not set what it sets."),
                Self.refusal(.contentTooLarge, "It does not fit a platform, or is too large."), Self.keyReused,
            ])
    }

    /// Of a device; it and its fellow may be missing together.
    private static func key(_ text: String, length: Int64) -> JSON {
        [
            "type": ["string", "null"], "description": .string(text), "minLength": .integer(length),
            "maxLength": .integer(length),
        ]
    }

    private static let id = APIParameter(.path, "id", "From `POST /api/register`.")

    // MARK: What operations have in common

    static let idempotencyKey = APIParameter(
        .header, "Idempotency-Key",
        "1 to 255 visible ASCII characters. A repeated request of the caller with the same key is answered as the first was "
            + "for a day, and finishes what that left unfinished; nothing is sent twice.")
    static let keyReused = refusal(422, "The `Idempotency-Key` was used for another request.")

    private static let errorSchema = object([
        "code": ["type": "integer", "minimum": 40000, "maximum": 59999], "message": ["type": "string", "minLength": 1],
    ])

    static func object(_ members: [String: JSON]) -> JSON {
        [
            "type": "object", "required": .array(members.keys.sorted().map { .string($0) }),
            "properties": .object(members),
        ]
    }

    private static let error = APIContent.json(["$ref": "#/components/schemas/Error"])
    private static let retryAfter = APIParameter(
        .header, "Retry-After", "Whole seconds.", schema: ["type": "integer", "minimum": 1])

    static func refusal(
        _ status: HTTPStatus, _ text: String, headers: [APIParameter] = []
    ) -> APIAnswer {
        APIAnswer(status, text, error, headers: headers)
    }

    /// Refused by the backend, or, in plain text, before anybody asked it.
    private static func anyRefusal(_ status: HTTPStatus, _ text: String) -> APIAnswer {
        APIAnswer(status, text, error, APIContent("text/plain"))
    }

    private static func plain(_ status: HTTPStatus, _ text: String) -> APIAnswer {
        APIAnswer(status, text, APIContent("text/plain"))
    }

    static let commonAnswers = [
        anyRefusal(.badRequest, "The request is wrong; the message says how."),
        refusal(
            .unauthorized, "Credentials are missing or wrong, or the session has ended.",
            headers: [APIParameter(.header, "WWW-Authenticate", isRequired: true)]),
        refusal(
            .forbidden,
            "The caller may not send to whom the request names, a token is genuine and names nobody who can be a user, or a "
                + "page of another site made a browser ask."
        ),
        refusal(.notFound, "There is nothing of this id."),
        refusal(415, "The body is declared as something else than JSON."),
        anyRefusal(.contentTooLarge, "The body or the message is too large."),
        refusal(
            .tooManyRequests, "Too many requests, failed log-ins or guesses, or too much that is unfinished.",
            headers: [retryAfter]),
        refusal(
            .serviceUnavailable, "The server cannot do it now, or was not told which hub to use.", headers: [retryAfter]
        ),
        refusal(.insufficientStorage, "The server has no room left; nothing was stored.", headers: [retryAfter]),
        plain(.requestTimeout, "The request took too long to arrive."),
        plain(414, "The address is too long."),
        plain(417, "Another expectation than `100-continue`."),
        plain(.headerFieldsTooLarge, "The header fields are too many or too long."),
    ]
}
