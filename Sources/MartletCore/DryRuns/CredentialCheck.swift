public import MartletModel

/// Whether a hub's credential for a platform works, as far as that can be told without a push.
public struct CredentialCheck: Hashable, Sendable {
    public enum State: String, CaseIterable, Sendable {
        /// The service gives a token for it, or needs none.
        case usable
        case missing
        /// The credential is unreadable, refused or expired.
        case unusable
        /// The service that could check it was not reached.
        case unchecked
    }

    public var state: State
    /// A description of the problem; nil if there is none.
    public var problem: String?
    /// When the credential expires; nil if it does not, or if that is not known.
    public var expiresAt: Timestamp?

    public init(_ state: State, problem: String? = nil, expiresAt: Timestamp? = nil) {
        self.state = state
        self.problem = problem
        self.expiresAt = expiresAt
    }
}
