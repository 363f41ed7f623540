public import MartletCore
public import MartletHTTP
public import MartletModel

/// The audience that the query of a request selects with `tags=EXPR` and `format=FORMAT`. Without `tags`, the audience
/// is all registrations; without `format`, all platforms and kinds.
public struct AudienceRequest: Sendable {
    /// The tag expression; nil for all registrations.
    public let expression: TagExpression?
    /// The platform; nil for all platforms.
    public let platform: PlatformID?
    /// The kind of registrations, native or template; nil for both kinds.
    public let kind: AudienceQuery.Kind?

    /// The refusal of an invalid query, with a sentence that states what is wrong.
    public struct Refusal: Error, Sendable {
        public let sentence: String
    }

    public init(query target: HTTPTarget, _ platforms: PushPlatformList) throws(Refusal) {
        expression = try Self.expression(target.item("tags"))
        switch target.item("format").map({ $0.value?.lowercased() ?? "" }) {
        case nil: (platform, kind) = (nil, nil)
        case "template"?: (platform, kind) = (nil, .template)
        case "message"?: (platform, kind) = (nil, .native)
        case let format?:
            guard let named = platforms.format(format) else {
                let formats = platforms.map { $0.descriptor.format } + ["template", "message"]
                throw Refusal(sentence: "The query item format must be one of \(formats.joined(separator: ", ")).")
            }
            (platform, kind) = (named.descriptor.platform, .native)
        }
    }

    /// Parses the tag expression. An empty expression is refused, because it is probably a mistake. Only a query
    /// without `tags` selects all registrations.
    private static func expression(_ item: HTTPTarget.QueryItem?) throws(Refusal) -> TagExpression? {
        guard let item else { return nil }
        do throws(TagExpressionError) {
            return try TagExpression(item.value ?? "")
        } catch {
            throw Refusal(sentence: error.description)
        }
    }
}

extension AudienceRequest {
    init(_ target: HTTPTarget, _ platforms: PushPlatformList) throws(HubAPIError) {
        do throws(Refusal) {
            try self.init(query: target, platforms)
        } catch {
            throw .badRequest(error.sentence)
        }
    }
}
