/// A user's name and password.
public struct Credentials: Hashable, Sendable, CustomStringConvertible, CustomDebugStringConvertible,
    CustomReflectable
{
    /// The name that the user logs in with.
    public let user: String
    /// In the clear; no description shows it.
    public let password: String

    /// Takes them as the user typed them.
    public init(user: String, password: String) {
        self.user = user
        self.password = password
    }

    /// Shows no password.
    public var description: String { "credentials of \(user)" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: ["user": user]) }
}

/// Keeps the credentials that were last right, so that the client can log in again by itself when a session ends.
///
/// Where they are to outlive the process, implement this on the system's keychain, never on a plain file or defaults.
public protocol CredentialStore: Sendable {
    /// The credentials; nil where there are none.
    func load() async -> Credentials?

    /// Replaces the credentials; nil removes them.
    func save(_ credentials: Credentials?) async
}

/// Keeps credentials as long as the process lives: users log in at every launch.
public actor MemoryCredentialStore: CredentialStore {
    private var credentials: Credentials?

    /// Makes one that holds nothing.
    public init() {}

    public func load() -> Credentials? { credentials }
    public func save(_ credentials: Credentials?) { self.credentials = credentials }
}
