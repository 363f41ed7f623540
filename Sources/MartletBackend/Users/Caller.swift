import MartletModel

/// The user who sends a request, with the roles that the log-in gives.
public struct Caller: Hashable, Sendable {
    public let name: UserName
    public let roles: Set<String>
    /// Whether the roles come from the identity provider that logged the user in, and not from the account.
    let hasRolesOfProvider: Bool
    /// When the account was added; nil if the directory does not know the name. A later account with the same name is
    /// another person's.
    var accountCreatedAt: Timestamp?

    public init(name: UserName, roles: Set<String> = []) {
        self.init(name: name, roles: roles, hasRolesOfProvider: false)
    }

    init(name: UserName, roles: Set<String>, hasRolesOfProvider: Bool) {
        self.name = name
        self.roles = roles
        self.hasRolesOfProvider = hasRolesOfProvider
    }
}
