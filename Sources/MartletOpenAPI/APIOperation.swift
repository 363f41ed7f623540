public import MartletHTTP
import MartletModel

/// A method of a path: its parameters, its body, and every status with which it answers.
public struct APIOperation: Sendable {
    public var method: HTTPMethod
    /// The path pattern in the form that `Router` uses.
    public var pattern: String
    /// The name of the operation in generated code.
    public var id: String
    /// The summary of the operation, in one line.
    public var summary: String
    /// The names of the accepted security schemes. A caller uses one of them. nil means the schemes of the group.
    public var security: [String]?
    /// The parameters. A parameter in the path is listed only if there is more to say about it than its name.
    public var parameters: [APIParameter]
    /// The forms that the body may have; empty if there is no body.
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

    /// The pattern in OpenAPI's notation, which has no special form for a parameter that spans several segments.
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
