import MartletModel

/// A group of users. Only administrators change its members, whose devices have the tag `group:NAME`.
///
/// Membership is stored as a role of that name, so that a provider's role claim can also grant it.
struct GroupName: Hashable, Sendable {
    /// The prefix of the group's tag and role.
    static let prefix = "group:"

    let name: String
    let tag: Tag

    /// Creates the name of a group.
    /// - Returns: nil if the text is not a valid group name: 1 to 64 characters, a to z, digits, `.`, `-` and `_`.
    init?(_ name: String) {
        guard UserDirectory.isRole(name), let tag = try? Tag(Self.prefix + name) else { return nil }
        self.name = name
        self.tag = tag
    }

    /// Reads the name of a group from the role that stands for membership of the group.
    /// - Returns: nil if the role does not stand for membership of a group.
    init?(role: String) {
        guard role.hasPrefix(Self.prefix) else { return nil }
        self.init(String(role.dropFirst(Self.prefix.count)))
    }

    var role: String { Self.prefix + name }
}

extension Set<String> {
    /// The tags of the groups among these roles, sorted by role.
    var groupTags: [Tag] { sorted().compactMap { GroupName(role: $0)?.tag } }
}
