import MartletCore
import MartletHTTP
import MartletModel
import MartletOpenAPI

/// The OpenAPI description of the app backend's API.
struct BackendDescription {
    let platforms: PushPlatformList

    /// The path of the document, which needs no authentication.
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
                    "Devices", "Registering devices of the caller.", security: [Scheme.basic, Scheme.session],
                    answers: Self.commonAnswers, operations: [newID, putDevice, deleteDevice]),
                APIGroup(
                    "Notifications", "Notifying users by name.", security: [Scheme.basic, Scheme.session],
                    answers: Self.commonAnswers, operations: [notify, sendMessage]),
                payloads,
                APIGroup(
                    "Encryption", "End-to-end encrypted notifications.",
                    security: [Scheme.basic, Scheme.session], answers: Self.commonAnswers,
                    operations: [deviceKeys, sendEncrypted]),
                APIGroup(
                    "Receipts", "Reports of devices about notifications.", security: [Scheme.basic, Scheme.session],
                    answers: Self.commonAnswers, operations: [addReceipts]),
                APIGroup(
                    "Description", "The description of this API.", security: [], answers: [],
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
                APIParameter(
                    .query, "handle",
                    "The handle of a device that may be registered: its id is returned, and its other registrations are removed."
                )
            ],
            answers: [
                APIAnswer(
                    .ok, "The id; as text without quotes if `Accept` asks for text.", .json(id),
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
                                "A language tag such as `de-AT`: the language for messages with several languages.",
                        ],
                        "PublicKey": Self.key("A point of P-256, uncompressed, in base64url.", length: 87),
                        "AuthSecret": Self.key("16 bytes in base64url.", length: 22),
                    ],
                ])
            ],
            answers: [
                APIAnswer(.ok, "The device is registered."),
                Self.refusal(.gone, "The id is no longer valid; get a new one."),
            ])
    }

    private var deleteDevice: APIOperation {
        APIOperation(
            .delete, "/api/register/{id}", id: "deleteDevice", "Remove a device", parameters: [Self.id],
            answers: [APIAnswer(.ok, "It is gone.")])
    }

    private var notify: APIOperation {
        APIOperation(
            .post, "/api/notifications", id: "notify", "Notify a user",
            parameters: [
                APIParameter(
                    .query, "pns",
                    "The platform; `all` means every platform that the hub can send to. Without `pns` and `to_tag`, a "
                        + "sample is sent if the server is configured for it."),
                APIParameter(.query, "to_tag", "The user's name."), Self.idempotencyKey,
            ], body: [.json(["type": "string"], example: "hello")],
            answers: [
                APIAnswer(
                    .ok, "The message is stored and will be sent; the answer does not say whether the user exists.",
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
            "Notify users with one message for all platforms. Users without the role admin may set text, language, data and "
                + "thread; the title is the sender's name",
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
                    .created,
                    "The message is stored and will be sent; the answer does not say whether the users exist.",
                    .json(Self.object(["id": ["type": "string"]]))),
                Self.refusal(
                    .forbidden, "The caller may not send to these recipients, or may not set one of these members."),
                Self.refusal(.contentTooLarge, "The message is too large, or exceeds a platform's limit."),
                Self.keyReused,
            ])
    }

    /// Returns the schema of a device's public key or authentication secret. Null is allowed, for a device without a
    /// key.
    private static func key(_ text: String, length: Int64) -> JSON {
        [
            "type": ["string", "null"], "description": .string(text), "minLength": .integer(length),
            "maxLength": .integer(length),
        ]
    }

    private static let id = APIParameter(.path, "id", "From `POST /api/register`.")

    // MARK: Common parts of operations

    static let idempotencyKey = APIParameter(
        .header, "Idempotency-Key",
        "1 to 255 visible ASCII characters. For a day, a repeated request of the caller with the same key gets the answer of "
            + "the first, and completes it if it was interrupted; nothing is sent twice.")
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

    /// Returns the description of a refusal. Its body is JSON if the backend refuses the request, and plain text if the
    /// request is refused before it reaches the backend.
    private static func anyRefusal(_ status: HTTPStatus, _ text: String) -> APIAnswer {
        APIAnswer(status, text, error, APIContent("text/plain"))
    }

    private static func plain(_ status: HTTPStatus, _ text: String) -> APIAnswer {
        APIAnswer(status, text, APIContent("text/plain"))
    }

    static let commonAnswers = [
        anyRefusal(.badRequest, "The request is invalid; the message says why."),
        refusal(
            .unauthorized, "Credentials are missing or wrong, or the session has ended.",
            headers: [APIParameter(.header, "WWW-Authenticate", isRequired: true)]),
        refusal(
            .forbidden,
            "The caller may not send to these recipients, a valid token names no possible user, or the request comes from a "
                + "page of another site."
        ),
        refusal(.notFound, "There is nothing with this id."),
        refusal(415, "The body is not declared as JSON."),
        anyRefusal(.contentTooLarge, "The body or the message is too large."),
        refusal(
            .tooManyRequests, "Too many requests, failed log-ins, guessed ids or unfinished notifications.",
            headers: [retryAfter]),
        refusal(
            .serviceUnavailable, "The server cannot answer now, or its hub is not configured.", headers: [retryAfter]
        ),
        refusal(.insufficientStorage, "The disk is full; nothing was stored.", headers: [retryAfter]),
        plain(.requestTimeout, "The request took too long to arrive."),
        plain(414, "The address is too long."),
        plain(417, "Another expectation than `100-continue`."),
        plain(.headerFieldsTooLarge, "The header fields are too many or too long."),
    ]
}
