public import MartletHTTP
import MartletModel

/// A method of a path: what it takes, and every status that it answers with.
public struct APIOperation: Sendable {
    public var method: HTTPMethod
    /// As the router has it; see `Router`.
    public var pattern: String
    /// A name for generated code.
    public var id: String
    /// One line.
    public var summary: String
    /// The security schemes, where they are not those of the group.
    public var security: [String]?
    /// Besides the parameters in the path, which need to be here only where there is more to say of them.
    public var parameters: [APIParameter]
    /// The forms that a body may have; none where there is no body.
    public var body: [APIContent]
    public var answers: [APIAnswer]

    public init(
        _ method: HTTPMethod, _ pattern: String, id: String, _ summary: String, security: [String]? = nil,
        parameters: [APIParameter] = [], body: [APIContent] = [], answers: [APIAnswer]
    ) {
        self.method = method
        self.pattern = pattern
        self.id = id
        self.summary = summary
        self.security = security
        self.parameters = parameters
        self.body = body
        self.answers = answers
    }

    /// The pattern as OpenAPI writes it, which has no sign for several segments.
    var path: String {
        "/"
            + pattern.split(separator: "/").map { $0.hasSuffix("...}") ? $0.dropLast(4) + "}" : $0 }
            .joined(separator: "/")
    }

    func json(in group: APIGroup) -> JSON {
        var members: [String: JSON] = [
            "tags": [.string(group.name)], "operationId": .string(id), "summary": .string(summary),
            "parameters": .array(allParameters(of: group).map(\.json)),
            "responses": .object(allAnswers(of: group)),
            "security": .array((security ?? group.security).map { [$0: []] }),
        ]
        if !body.isEmpty { members["requestBody"] = ["required": true, "content": body.json] }
        return .object(members)
    }

    private func allParameters(of group: APIGroup) -> [APIParameter] {
        let all = parameters + group.parameters
        let names = path.split(separator: "/").filter { $0.first == "{" }.map { String($0.dropFirst().dropLast()) }
        let inPath = names.map { name in
            all.first { $0.location == .path && $0.name == name } ?? APIParameter(.path, name)
        }
        return inPath + all.filter { $0.location != .path }
    }

    private func allAnswers(of group: APIGroup) -> [String: JSON] {
        let pairs = (answers + group.answers).map { (String($0.status.code), $0.json) }
        return Dictionary(pairs) { own, _ in own }
    }
}
