public import MartletModel

/// One form that a body can have: a media type with its schema.
public struct APIContent: Sendable {
    public var mediaType: String
    public var schema: JSON
    public var example: JSON?

    public init(_ mediaType: String, _ schema: JSON = ["type": "string"], example: JSON? = nil) {
        self.mediaType = mediaType
        self.schema = schema
        self.example = example
    }

    public static func json(_ schema: JSON, example: JSON? = nil) -> APIContent {
        APIContent("application/json", schema, example: example)
    }
}

extension [APIContent] {
    var json: JSON {
        let pairs = map { content in
            var members: [String: JSON] = ["schema": content.schema]
            members["example"] = content.example
            return (content.mediaType, JSON.object(members))
        }
        return .object(Dictionary(pairs) { first, _ in first })
    }
}
