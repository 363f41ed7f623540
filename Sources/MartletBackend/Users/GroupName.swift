import MartletModel

/// A group of users, which administrators alone decide on: its members' devices carry the tag `group:NAME`.
///
/// Membership is kept as a role of that name, so that a provider's claim of roles may give it too.
struct GroupName: Hashable, Sendable {
    /// What begins the tag, and the role.
    static let prefix = "group:"

    let name: String
    let tag: Tag

    /// - Returns: nil for what is no group's name: 1 to 64 characters, a to z, digits, `.`, `-` and `_`.
    init?(_ name: String) {
        guard UserDirectory.isRole(name), let tag = try? Tag(Self.prefix + name) else { return nil }
        self.name = name
        self.tag = tag
    }

    /// - Returns: nil for a role that is no membership.
    init?(role: String) {
        guard role.hasPrefix(Self.prefix) else { return nil }
        self.init(String(role.dropFirst(Self.prefix.count)))
    }

    var role: String { Self.prefix + name }
}

extension Set<String> {
    /// The tags of the groups among these roles, in order.
    var groupTags: [Tag] { sorted().compactMap { GroupName(role: $0)?.tag } }
}
