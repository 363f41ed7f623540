/// A change of one property of an operator.
public enum OperatorChange: Hashable, Sendable {
    case roles(RoleGrants)
    case isDisabled(Bool)
    case passwordHash(String)
    case settings(String)

    /// True if the operator cannot be an administrator of the whole server after the change.
    public var endsAdministration: Bool {
        switch self {
        case .roles(let roles): roles.overall != .admin
        case .isDisabled(let isDisabled): isDisabled
        case .passwordHash, .settings: false
        }
    }
}

extension Operator {
    /// True if the operator may administer the whole server, and can sign in with a password: an identity provider may
    /// take the roles of its people away at any time.
    public var isActiveAdmin: Bool { !isDisabled && passwordHash != nil && roles.overall == .admin }
}
