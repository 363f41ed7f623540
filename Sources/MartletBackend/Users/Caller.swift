/// Who sends a request: a user, with the roles that the log-in gives.
public struct Caller: Hashable, Sendable {
    public let name: UserName
    public let roles: Set<String>

    public init(name: UserName, roles: Set<String> = []) {
        self.name = name
        self.roles = roles
    }
}
