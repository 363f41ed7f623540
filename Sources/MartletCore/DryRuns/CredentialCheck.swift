public import MartletModel

/// The result of checking a hub's credential for a platform without sending a push.
public struct CredentialCheck: Hashable, Sendable {
    public enum State: String, CaseIterable, Sendable {
        /// A token was obtained with the credential, requests to the push service need no token, or a token is signed
        /// by this server for the origin of each device, which asks nobody and needs only the key that was read.
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
