import MartletHTTP
public import MartletModel
public import MartletOpenAPI

/// The OpenAPI description of the console's API: the console's own routes, and the routes whose requests the console
/// passes on to the administration API.
public struct ConsoleDescription: Sendable {
    /// The administration API's groups of operations, with paths as on the admin socket.
    let administration: [APIGroup]
    /// The schemas that the groups in `administration` use.
    let schemas: [String: JSON]

    public init(administration: [APIGroup], schemas: [String: JSON]) {
        self.administration = administration
        self.schemas = schemas
    }

    /// The path of the description, below `/console/api`.
    static let path = "/openapi.json"

    private static let cookie = "Session"

    /// Returns the description of a console that has these routes.
    func description(of routes: [ConsoleRoute]) -> APIDescription {
        var groups = Self.own
        if routes.contains(where: { $0.pattern == Self.simulatorPattern }) { groups.append(Self.simulator) }
        return APIDescription(
            title: "Martlet console", text: Self.text, version: "1",
            securitySchemes: [
                Self.cookie: [
                    "type": "apiKey", "in": "cookie", "name": .string(ConsoleCookie.session.name),
                    "description": "Set by signing in.",
                ]
            ],
            schemas: schemas.merging(Self.ownSchemas) { $1 },
            groups: groups.map { below($0) } + administration.compactMap { passed($0, by: routes) })
    }

    private static let text = """
        What the pages of the console ask. Everything but GET needs the header `Martlet-Console: 1`, \
        `Content-Type: application/json` and an `Origin` of this server. A refusal for want of a role \
        names the role.
        """

    // MARK: Own and passed operations

    private func below(_ group: APIGroup) -> APIGroup {
        var group = group
        group.operations = group.operations.map { operation in
            var operation = operation
            operation.pattern = AdministrationDoor.prefix + operation.pattern
            return operation
        }
        return group
    }

    /// Returns a group with only those of its operations for which the console has a route; nil if there are none.
    private func passed(_ group: APIGroup, by routes: [ConsoleRoute]) -> APIGroup? {
        let patterns = Dictionary(
            routes.map { (Self.key($0.method, $0.pattern), $0.pattern) }, uniquingKeysWith: { first, _ in first })
        var passed = group
        passed.security = [Self.cookie]
        passed.answers = Self.commonAnswers
        passed.operations = group.operations.compactMap { operation in
            guard let pattern = patterns[Self.key(operation.method, operation.pattern)] else { return nil }
            var operation = operation
            operation.pattern = AdministrationDoor.prefix + pattern
            return operation
        }
        return passed.operations.isEmpty ? nil : passed
    }

    /// Returns a text by which operations and routes are compared. The text is the same for patterns that differ only
    /// in the names of their parameters.
    private static func key(_ method: HTTPMethod, _ pattern: String) -> String {
        let segments = pattern.split(separator: "/").map { $0.first == "{" ? "{}" : $0 }
        return "\(method.rawValue) /\(segments.joined(separator: "/"))"
    }

    static func group(
        _ name: String, _ text: String, isOpen: Bool = false, _ operations: [APIOperation]
    ) -> APIGroup {
        APIGroup(
            name, text, security: isOpen ? [] : [cookie], answers: commonAnswers, operations: operations)
    }

    // MARK: Answers

    private static let refusalSchema = APISchema.object(
        [
            "code": APISchema.text, "error": APISchema.text, "needs": APISchema.words("viewer", "sender", "admin"),
            "hub": APISchema.textOrNull,
        ], optional: ["code", "needs", "hub"])

    private static func refusal(_ status: HTTPStatus, _ text: String, headers: [APIParameter] = []) -> APIAnswer {
        APIAnswer(status, text, .json(refusalSchema), APIContent("text/plain"), headers: headers)
    }

    private static let commonAnswers = [
        refusal(.badRequest, "The request is invalid; the sentence says why."),
        refusal(.unauthorized, "Nobody is signed in, or what was given is wrong."),
        refusal(
            .forbidden,
            "The role is not sufficient, the password must be entered again (`not-fresh`), or the request comes from another "
                + "site."),
        refusal(.notFound, "There is nothing with this name or id."),
        refusal(.conflict, "The state of the server does not allow it; the sentence says why."),
        refusal(.requestTimeout, "The request took too long to arrive."),
        refusal(.contentTooLarge, "The body is larger than the operation allows."),
        refusal(414, "The address is too long."), refusal(415, "The body is not declared as JSON."),
        refusal(417, "Another expectation than `100-continue`."),
        refusal(421, "The server has no such name."),
        refusal(
            .tooManyRequests, "Too many attempts or streams.",
            headers: [
                APIParameter(.header, "Retry-After", "Whole seconds.", schema: ["type": "integer", "minimum": 1])
            ]),
        refusal(.headerFieldsTooLarge, "The header fields are too many or too long."),
        refusal(.serviceUnavailable, "The server cannot answer now; the sentence says why."),
        refusal(.insufficientStorage, "The disk is full; nothing was stored."),
    ]
}
