import MartletHTTP
import MartletHubAPI
import MartletModel
import MartletOpenAPI

/// The OpenAPI description of the administration API: all routes of the admin socket, except those below `/rest`, which
/// belong to the hub's API.
struct AdminDescription {
    /// The path at which the admin socket answers with the description.
    static let path = "/openapi.json"

    /// The description of all routes: `groups`, and a group for the route at `path`.
    static let description = APIDescription(
        title: "Martlet administration", text: text, version: "1", securitySchemes: [:], schemas: schemas,
        groups: groups + [
            APIGroup(
                "Description", "The description of this API.", security: [], answers: [],
                operations: [
                    APIOperation(
                        .get, path, id: "getDescription", "Read this document", answers: [APIDescription.answer])
                ])
        ])

    static let response = description.makeResponse()

    private static let text = """
        Answered on the admin socket, to which the file mode admits. The web console answers the same requests below \
        `/console/api`, after checks of session and role; its own description is `/console/api/openapi.json`. Below \
        `/rest` the socket answers the hub's API without signatures; that API is described at `/$openapi.json` of the \
        server's listeners.
        """

    /// The groups of routes, except the one at `path`. The description of the console's API uses these groups too.
    static var groups: [APIGroup] {
        [
            hubs, credentials, keys, limits, sends, control, deadLetters, campaigns, devices, tags, jobs, users,
            operators, audit, server, backups, serverKey, containers, migration,
        ]
    }

    static let schemas: [String: JSON] = HubDocumentSchemas.all.merging(ownSchemas) { $1 }

    // MARK: What operations have in common

    static func group(_ name: String, _ text: String, _ operations: APIOperation...) -> APIGroup {
        APIGroup(name, text, security: [], answers: commonAnswers, operations: operations)
    }

    static func ok(_ text: String, _ schema: JSON) -> APIAnswer { APIAnswer(.ok, text, .json(schema)) }

    static func created(_ text: String, _ schema: JSON) -> APIAnswer { APIAnswer(.created, text, .json(schema)) }

    static func done(_ text: String) -> APIAnswer { APIAnswer(.noContent, text) }

    static func refusal(_ status: HTTPStatus, _ text: String) -> APIAnswer { APIAnswer(status, text, error) }

    static func query(_ name: String, _ text: String, schema: JSON = APISchema.text) -> APIParameter {
        APIParameter(.query, name, text, schema: schema)
    }

    static func limit(_ most: Int64, usual: Int64) -> APIParameter {
        query(
            "limit", "How many are listed.",
            schema: ["type": "integer", "minimum": 1, "maximum": .integer(most), "default": .integer(usual)])
    }

    private static let error = APIContent.json(APISchema.named("Error"))

    /// Describes a refusal that is either JSON from the administration API, or plain text from the HTTP server itself.
    private static func anyRefusal(_ status: HTTPStatus, _ text: String) -> APIAnswer {
        APIAnswer(status, text, error, APIContent("text/plain"))
    }

    private static func plain(_ status: HTTPStatus, _ text: String) -> APIAnswer {
        APIAnswer(status, text, APIContent("text/plain"))
    }

    private static let commonAnswers = [
        anyRefusal(.badRequest, "The request is invalid; the sentence says why."),
        refusal(.notFound, "There is nothing with this name or id."),
        refusal(.conflict, "The state of the server does not allow it; the sentence says why."),
        anyRefusal(.contentTooLarge, "The body is larger than the operation allows."),
        refusal(.serviceUnavailable, "The server cannot answer now; the sentence says why."),
        refusal(.insufficientStorage, "The disk is full; nothing was stored."),
        plain(.requestTimeout, "The request took too long to arrive."),
        plain(414, "The address is too long."),
        plain(417, "Another expectation than `100-continue`."),
        plain(.headerFieldsTooLarge, "The header fields are too many or too long."),
    ]
}
