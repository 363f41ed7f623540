/// A template of an installation; its name is the key under which the installation has it.
public struct InstallationTemplate: Hashable, Sendable {
    public var body: String
    /// Headers for the push service by their names; the values may be expressions.
    public var headers: [String: String]
    /// A date, a number of seconds or an expression, for platforms that know one.
    public var expiry: String?
    /// Besides those of the installation and the template's own name.
    public var tags: [Tag]

    public init(body: String, headers: [String: String] = [:], expiry: String? = nil, tags: [Tag] = []) {
        self.body = body
        self.headers = headers
        self.expiry = expiry
        self.tags = tags
    }

    /// The template's tags and its name, which is one of them where it can be a tag.
    public func tags(named name: String) -> [Tag] {
        guard let own = try? Tag(name), !tags.contains(own) else { return tags }
        return tags + [own]
    }
}
