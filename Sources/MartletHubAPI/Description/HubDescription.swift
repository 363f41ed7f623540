import MartletCore
import MartletHTTP
import MartletModel
import MartletOpenAPI

/// The OpenAPI description of the hub's REST API and the storage containers. Everything in it that concerns platforms
/// comes from the platforms' descriptors.
struct HubDescription {
    let platforms: PushPlatformList

    /// The path of the document, which needs no authorization. It cannot be the name of a hub: see `HubName.reserved`.
    static let path = "/$openapi.json"

    /// The names of the security schemes.
    enum Scheme {
        static let token = "SharedAccessSignature"
        static let signedURL = "SignedURL"
    }

    var description: APIDescription {
        APIDescription(
            title: "Martlet hub", text: Self.text, version: "2020-06",
            securitySchemes: [
                Scheme.token: [
                    "type": "apiKey", "in": "header", "name": "Authorization",
                    "description": .string(
                        "`SharedAccessSignature sr=RESOURCE&sig=SIGNATURE&se=EXPIRY&skn=KEYNAME`: the signature is the "
                            + "Base64 of HMAC-SHA256, with the text of the key, of RESOURCE, a line feed and EXPIRY."),
                ],
                Scheme.signedURL: [
                    "type": "apiKey", "in": "query", "name": "sig",
                    "description": .string(
                        "The query `sv`, `se`, `sr`, `sp` and `sig` of a URL that `martlet container url` prints."),
                ],
            ],
            schemas: Self.installationSchemas.merging(Self.traceSchemas) { $1 }.merging(Self.audienceSchemas) { $1 }
                .merging(Self.deadLetterSchemas) { $1 }.merging(Self.funnelSchemas) { $1 }
                .merging(Self.controlSchemas) { $1 }.merging(Self.scheduleSchemas) { $1 }
                .merging(Self.sendingSchemas) { $1 },
            groups: [
                registrations, installations, messages, audience, control, traces, deadLetters, funnel, feedback,
                feedbackFiles, jobs, management,
                containers,
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
        The REST API of Azure Notification Hubs, as its clients speak it. Paths and the names of query items compare \
        without case, a slash at the end is tolerated, and so is any `api-version`. A request that HTTP itself does not \
        allow is refused in plain text before anything here applies; every other answer carries `TrackingId`.
        """

    // MARK: Common parts of most operations

    static let version = APIParameter(.query, "api-version", "Any value is accepted.")

    static func hubGroup(
        _ name: String, _ text: String, _ operations: [APIOperation]
    ) -> APIGroup {
        APIGroup(
            name, text, security: [Scheme.token], parameters: [version], answers: commonAnswers, operations: operations)
    }

    /// The content of an error answer for a request with `Martlet-Answer: json`.
    private static let errorJSON = APIContent.json(
        ["type": "object", "required": ["error"], "properties": ["error": ["type": "string"]]])

    /// Returns the description of an error answer: XML with `Code` and `Detail`, or JSON with `error` if the request
    /// asks for JSON.
    static func error(_ status: HTTPStatus, _ text: String) -> APIAnswer {
        APIAnswer(status, text, APIContent("application/xml"), errorJSON, headers: ids)
    }

    /// Returns the description of a refusal that is either XML or JSON from the hub's API, or plain text from the HTTP
    /// server before the request reaches the hub's API.
    static func refusal(_ status: HTTPStatus, _ text: String) -> APIAnswer {
        APIAnswer(status, text, APIContent("application/xml"), errorJSON, APIContent("text/plain"))
    }

    /// The errors with which the HTTP server itself answers, before a handler is called.
    static let networkAnswers = [
        APIAnswer(.requestTimeout, "The request took too long to arrive.", APIContent("text/plain")),
        APIAnswer(414, "The address is too long.", APIContent("text/plain")),
        APIAnswer(417, "Another expectation than `100-continue`.", APIContent("text/plain")),
        APIAnswer(.headerFieldsTooLarge, "The header fields are too many or too long.", APIContent("text/plain")),
    ]

    private static let commonAnswers =
        networkAnswers + [
            refusal(.badRequest, "The request is invalid; the sentence says why."),
            error(.unauthorized, "The token is missing, expired, for another address, or not signed with a valid key."),
            APIAnswer(.forbidden, "The key has no right to this operation.", headers: ids),
            error(.notFound, "The hub does not exist, or has nothing with this id."),
            refusal(.contentTooLarge, "The body is larger than the operation allows."),
            APIAnswer(
                .tooManyRequests,
                "Too many requests of the access key, test sends, or unfinished notifications; nothing was done.",
                APIContent("application/xml"), errorJSON, headers: ids + [retryAfter]),
            error(.internalServerError, "The server could not answer."),
            APIAnswer(
                .serviceUnavailable, "The server cannot answer now.", APIContent("application/xml"), errorJSON,
                headers: ids + [retryAfter]),
            APIAnswer(
                .insufficientStorage, "The disk is full: nothing was stored. Accepted notifications are not affected.",
                APIContent("application/xml"), errorJSON, headers: ids + [retryAfter]),
        ]

    static let retryAfter = APIParameter(
        .header, "Retry-After", "Whole seconds.", schema: ["type": "integer", "minimum": 1], isRequired: true)

    /// The header fields with the tracking id, which every answer of the hub has.
    static let ids = [
        APIParameter(.header, "TrackingId", "The caller's own, or a new one.", isRequired: true),
        APIParameter(.header, "x-ms-correlation-request-id", "The same.", isRequired: true),
    ]

    static let location = APIParameter(
        .header, "Location", "The absolute URL of the new resource; its last segment is the id.", isRequired: true)
    static let ifMatch = APIParameter(
        .header, "If-Match", "`*`, or the version to change, as in `ETag`.")

    static let atomBody = [APIContent("application/atom+xml"), APIContent("application/xml")]
    static let entry = APIContent("application/atom+xml; type=entry; charset=utf-8")
    static let feed = APIContent("application/atom+xml; type=feed; charset=utf-8")
}
