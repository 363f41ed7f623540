public import MartletHTTP
import MartletModel

/// A status with which an operation answers, and the contents of that answer.
public struct APIAnswer: Sendable {
    public var status: HTTPStatus
    public var text: String
    public var contents: [APIContent]
    public var headers: [APIParameter]

    /// Creates an answer.
    /// - Parameter contents: The media types of the body; empty if there is no body.
    public init(_ status: HTTPStatus, _ text: String, _ contents: APIContent..., headers: [APIParameter] = []) {
        self.status = status
        self.text = text
        self.contents = contents
        self.headers = headers
    }

    var json: JSON {
        var members: [String: JSON] = ["description": .string(text)]
        if !contents.isEmpty { members["content"] = contents.json }
        if !headers.isEmpty {
            members["headers"] = .object(Dictionary(headers.map { ($0.name, $0.headerJSON) }) { first, _ in first })
        }
        return .object(members)
    }
}
