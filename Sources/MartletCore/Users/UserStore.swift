public import MartletModel

/// A user of the app backend.
public struct User: Sendable, CustomStringConvertible {
    /// The name as it was spelled when the user was added; names are compared without case.
    public var name: String
    /// The hash of the password in PHC string form.
    public var passwordHash: String
    public var createdAt: Timestamp
    /// The additional rights of the user, such as `admin`.
    public var roles: Set<String>

    public init(name: String, passwordHash: String, createdAt: Timestamp, roles: Set<String> = []) {
        self.name = name
        self.passwordHash = passwordHash
        self.createdAt = createdAt
        self.roles = roles
    }

    public var description: String { "user \(name)" }
}

/// A session of a user, from log-in to log-out. The holder of its token acts as the user.
public struct Session: Sendable, CustomStringConvertible {
    /// The SHA-256 hash of the token; the token itself is not stored.
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

    /// The maximum number of sessions of one user.
    public static let limit = 100
}

/// Stores users and their sessions. Every change is durable when it returns.
public protocol UserStore: Sendable {
    /// Adds a user without roles, or changes the password of an existing user and ends its sessions.
    func putUser(_ user: User) async throws(StorageError)

    /// Changes the password of an existing user and ends its sessions. The name of the user is compared without case.
    /// - Returns: Whether the user exists.
    func changePassword(of name: String, to hash: String) async throws(StorageError) -> Bool

    /// Returns the user with a name, compared without case; nil if there is none.
    func user(_ name: String) async throws(StorageError) -> User?

    /// Returns users, sorted by name.
    /// - Parameters:
    ///   - prefix: The beginning of the names, compared without case; empty for all users.
    ///   - last: The name after which the result begins; nil to begin with the first name.
    ///   - limit: The maximum number of users.
    func users(beginningWith prefix: String, after last: String?, limit: Int) async throws(StorageError) -> [User]

    /// Adds a role to a user. The name of the user is compared without case.
    /// - Parameter role: A word without spaces.
    /// - Returns: Whether the user exists.
    func addRole(_ role: String, to name: String) async throws(StorageError) -> Bool

    /// Removes a role from a user. The name of the user is compared without case.
    /// - Returns: Whether the user exists, regardless of whether the user had the role.
    func removeRole(_ role: String, from name: String) async throws(StorageError) -> Bool

    /// Removes a user and the user's sessions.
    /// - Returns: Whether the user existed.
    func removeUser(_ name: String) async throws(StorageError) -> Bool

    /// Stores a session. If the user already has `Session.limit` sessions, the sessions that expire first end.
    func addSession(_ session: Session) async throws(StorageError)

    /// Returns the session whose token has this hash; nil if the session does not exist or has expired.
    func session(tokenHash: [UInt8], at now: Timestamp) async throws(StorageError) -> Session?

    /// Ends a session.
    /// - Returns: Whether the session existed.
    func removeSession(tokenHash: [UInt8]) async throws(StorageError) -> Bool

    /// Returns how many sessions of a user have not expired. The name is compared without case.
    func sessionCount(of name: String, at now: Timestamp) async throws(StorageError) -> Int

    /// Ends all sessions of a user. The name is compared without case.
    func removeSessions(of name: String) async throws(StorageError)
}
