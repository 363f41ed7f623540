/// A template of an installation. Its name is its key in `Installation.templates`.
public struct InstallationTemplate: Hashable, Sendable {
    public var body: String
    /// The headers for the push service, keyed by name; the values may be expressions.
    public var headers: [String: String]
    /// The expiry, on platforms that have one: a date, a number of seconds or an expression.
    public var expiry: String?
    /// The tags that the template has in addition to the installation's tags and its own name.
    public var tags: [Tag]

    public init(body: String, headers: [String: String] = [:], expiry: String? = nil, tags: [Tag] = []) {
        self.body = body
        self.headers = headers
        self.expiry = expiry
        self.tags = tags
    }

    /// Returns the template's tags, including the template's name if it is a valid tag.
    public func tags(named name: String) -> [Tag] {
        guard let own = try? Tag(name), !tags.contains(own) else { return tags }
        return tags + [own]
    }
}
