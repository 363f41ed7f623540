/// The identity of a person at an identity provider. Only issuer and subject together are unique and permanent (OpenID
/// Connect Core 1.0, section 5.7).
public struct OperatorIdentity: Hashable, Sendable {
    public var issuer: String
    public var subject: String

    public init(issuer: String, subject: String) {
        self.issuer = issuer
        self.subject = subject
    }
}

/// A sign-in of a person whom an identity provider has authenticated.
public struct ProviderVisit: Sendable {
    public var identity: OperatorIdentity
    /// Possible names for a new operator, in order of preference. The first name that is not in use is taken.
    public var names: [String]
    /// The roles that the provider gives now; they replace the roles of the last visit.
    public var roles: RoleGrants
    /// The maximum number of operators.
    public var countLimit: Int

    public init(identity: OperatorIdentity, names: [String], roles: RoleGrants, countLimit: Int) {
        self.identity = identity
        self.names = names
        self.roles = roles
        self.countLimit = countLimit
    }
}

/// The result of a sign-in by an identity provider.
public enum ProviderVisitResult: Sendable {
    /// The operator has signed in, with the new session or with the session that was confirmed.
    case entered(Operator, OperatorSession)
    /// The provider gives the person no role. If the person was an operator, the value is the operator's name, and all
    /// sessions of the operator have ended.
    case noRole(String?)
    /// The operator with this name is disabled.
    case disabled(String)
    /// The person is not an operator yet, and cannot become one: the maximum number of operators is reached, or all
    /// proposed names are in use.
    case tooMany
}
