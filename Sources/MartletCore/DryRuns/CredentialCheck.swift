public import MartletModel

/// The result of checking a hub's credential for a platform without sending a push.
public struct CredentialCheck: Hashable, Sendable {
    public enum State: String, CaseIterable, Sendable {
        /// Either a token was obtained with the credential, or none has to be obtained: the push service needs no
        /// token, or this server itself signs one for the origin of each device.
        case usable
        case missing
        /// The credential is unreadable, refused or expired.
        case unusable
        /// The service that could check the credential was not reached, or could not answer at the moment.
        case unchecked
    }

    public var state: State
    /// A description of the problem; nil if there is none.
    public var problem: String?
    /// When the credential expires; nil if it does not expire, or if this is unknown.
    public var expiresAt: Timestamp?

    public init(_ state: State, problem: String? = nil, expiresAt: Timestamp? = nil) {
        self.state = state
        self.problem = problem
        self.expiresAt = expiresAt
    }
}
