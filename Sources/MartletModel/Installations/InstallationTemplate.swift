/// A template of an installation; its name is its key in the installation.
public struct InstallationTemplate: Hashable, Sendable {
    public var body: String
    /// Headers for the push service by name; the values may be expressions.
    public var headers: [String: String]
    /// A date, a number of seconds or an expression, for platforms with an expiry.
    public var expiry: String?
    /// Tags in addition to those of the installation and the template's own name.
    public var tags: [Tag]

    public init(body: String, headers: [String: String] = [:], expiry: String? = nil, tags: [Tag] = []) {
        self.body = body
        self.headers = headers
        self.expiry = expiry
        self.tags = tags
    }

    /// Returns the template's tags, with its name as one of them if the name is a valid tag.
    public func tags(named name: String) -> [Tag] {
        guard let own = try? Tag(name), !tags.contains(own) else { return tags }
        return tags + [own]
    }
}
