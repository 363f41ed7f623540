/// Who sends a request: a user, with the roles that the log-in gives.
public struct Caller: Hashable, Sendable {
    public let name: UserName
    public let roles: Set<String>
    /// Whether the roles come with the log-in, from an identity provider, and not from the account.
    let hasRolesOfProvider: Bool

    public init(name: UserName, roles: Set<String> = []) {
        self.init(name: name, roles: roles, hasRolesOfProvider: false)
    }

    init(name: UserName, roles: Set<String>, hasRolesOfProvider: Bool) {
        self.name = name
        self.roles = roles
        self.hasRolesOfProvider = hasRolesOfProvider
    }
}
