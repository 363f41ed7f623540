public import MartletModel

/// A user of the app backend.
public struct User: Sendable, CustomStringConvertible {
    /// As it was added; names compare without case.
    public var name: String
    /// The password's hash in PHC string form.
    public var passwordHash: String
    public var createdAt: Timestamp
    /// What the user may do beyond what all may: `admin`.
    public var roles: Set<String>

    public init(name: String, passwordHash: String, createdAt: Timestamp, roles: Set<String> = []) {
        self.name = name
        self.passwordHash = passwordHash
        self.createdAt = createdAt
        self.roles = roles
    }

    public var description: String { "user \(name)" }
}

/// A log-in that lasts: who holds the token is the user.
public struct Session: Sendable, CustomStringConvertible {
    /// SHA-256 of the token, which itself is not stored.
    public var tokenHash: [UInt8]
    public var userName: String
    public var createdAt: Timestamp
    public var expiresAt: Timestamp

    public init(tokenHash: [UInt8], userName: String, createdAt: Timestamp, expiresAt: Timestamp) {
        self.tokenHash = tokenHash
        self.userName = userName
        self.createdAt = createdAt
        self.expiresAt = expiresAt
    }

    public var description: String { "session of \(userName)" }
}

/// Keeps users and their sessions. Every verb is durable when it returns.
public protocol UserStore: Sendable {
    /// Adds a user without roles, or gives one that is there a new password and ends its sessions.
    func putUser(_ user: User) async throws(StorageError)

    /// By name, without case.
    func user(_ name: String) async throws(StorageError) -> User?

    /// All, by name.
    func users() async throws(StorageError) -> [User]

    /// Gives a user, by name without case, a role.
    /// - Parameter role: A word without spaces.
    /// - Returns: Whether there is such a user.
    func addRole(_ role: String, to name: String) async throws(StorageError) -> Bool

    /// Takes a role from a user, by name without case.
    /// - Returns: Whether there is such a user, with the role or without it.
    func removeRole(_ role: String, from name: String) async throws(StorageError) -> Bool

    /// Removes a user and its sessions.
    /// - Returns: Whether there was one.
    func removeUser(_ name: String) async throws(StorageError) -> Bool

    func addSession(_ session: Session) async throws(StorageError)

    /// The session of a token, or nil where there is none or it has expired.
    func session(tokenHash: [UInt8], at now: Timestamp) async throws(StorageError) -> Session?

    /// - Returns: Whether there was one.
    func removeSession(tokenHash: [UInt8]) async throws(StorageError) -> Bool
}
