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
    /// True if the operator may administer the whole server, is not disabled, and signs in with a password. Operators
    /// who sign in by an identity provider do not count, because the provider may take their roles away at any time.
    public var isActiveAdmin: Bool { !isDisabled && passwordHash != nil && roles.overall == .admin }
}
