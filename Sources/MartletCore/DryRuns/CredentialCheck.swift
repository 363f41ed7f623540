public import MartletModel

/// Whether pushes of a hub can be sent to a platform, as far as that is known without one.
public struct CredentialCheck: Hashable, Sendable {
    public enum State: String, CaseIterable, Sendable {
        /// The service has a token for it, or needs none.
        case usable
        case missing
        /// Unreadable, refused or expired.
        case unusable
        /// The service that could tell was not reached.
        case unchecked
    }

    public var state: State
    /// What is wrong, in a sentence; nil where nothing is.
    public var problem: String?
    /// When it ends by itself; nil where it does not, or where that is unknown.
    public var expiresAt: Timestamp?

    public init(_ state: State, problem: String? = nil, expiresAt: Timestamp? = nil) {
        self.state = state
        self.problem = problem
        self.expiresAt = expiresAt
    }
}
