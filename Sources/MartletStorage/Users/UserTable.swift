import MartletCore
import MartletModel

/// Stores and reads users and sessions, on one connection.
struct UserTable {
    private let connection: Connection

    init(_ connection: Connection) {
        self.connection = connection
    }

    /// The columns of a user. Roles are read as one text, separated by spaces, because no role contains a space.
    private static let columns = """
        name, password_hash, created_at, (SELECT group_concat(role, ' ') FROM user_roles WHERE user = folded_name)
        """

    func put(_ user: User) throws(StorageError) {
        try connection.run(
            """
            INSERT INTO users (folded_name, name, password_hash, created_at) VALUES (?, ?, ?, ?)
            ON CONFLICT (folded_name) DO UPDATE SET password_hash = excluded.password_hash
            """, user.name.lowercased(), user.name, user.passwordHash, user.createdAt)
        try removeSessions(of: user.name)
    }

    func changePassword(of name: String, to hash: String) throws(StorageError) -> Bool {
        try connection.run("UPDATE users SET password_hash = ? WHERE folded_name = ?", hash, name.lowercased())
        guard connection.changes > 0 else { return false }
        try removeSessions(of: name)
        return true
    }

    func user(_ name: String) throws(StorageError) -> User? {
        try connection.first(
            "SELECT \(Self.columns) FROM users WHERE folded_name = ?", name.lowercased(),
            read: Self.user)
    }

    func users(beginningWith prefix: String, after last: String?, limit: Int) throws(StorageError) -> [User] {
        let prefix = prefix.lowercased()
        // Names are ASCII, so the prefix followed by U+10FFFF sorts after every name that begins with the prefix.
        return try connection.all(
            """
            SELECT \(Self.columns) FROM users WHERE folded_name >= ?1 AND folded_name < ?2 AND folded_name > ?3
            ORDER BY folded_name LIMIT ?4
            """, prefix, prefix + "\u{10FFFF}", last?.lowercased() ?? "", limit, read: Self.user)
    }

    func addRole(_ role: String, to name: String) throws(StorageError) -> Bool {
        try connection.run(
            "INSERT OR IGNORE INTO user_roles SELECT folded_name, ? FROM users WHERE folded_name = ?", role,
            name.lowercased())
        return try user(name) != nil
    }

    func removeRole(_ role: String, from name: String) throws(StorageError) -> Bool {
        try connection.run("DELETE FROM user_roles WHERE user = ? AND role = ?", name.lowercased(), role)
        return try user(name) != nil
    }

    func remove(_ name: String) throws(StorageError) -> Bool {
        try AuthorTable(connection).remove(.user(name))
        try connection.run("DELETE FROM users WHERE folded_name = ?", name.lowercased())
        return connection.changes > 0
    }

    /// Stores a session. If the session's user has been removed meanwhile, the session is not stored, and so grants no
    /// access.
    func add(_ session: Session) throws(StorageError) {
        try connection.run(
            """
            INSERT OR REPLACE INTO sessions (token_hash, user, created_at, expires_at)
            SELECT ?, folded_name, ?, ? FROM users WHERE folded_name = ?
            """, session.tokenHash, session.createdAt, session.expiresAt, session.userName.lowercased())
        try connection.run(
            """
            DELETE FROM sessions WHERE token_hash IN (
                SELECT token_hash FROM sessions WHERE user = ? ORDER BY expires_at DESC, created_at DESC
                LIMIT -1 OFFSET ?)
            """, session.userName.lowercased(), Session.limit)
    }

    func session(tokenHash: [UInt8], at now: Timestamp) throws(StorageError) -> Session? {
        try connection.first(
            """
            SELECT users.name, sessions.created_at, sessions.expires_at
            FROM sessions JOIN users ON users.folded_name = sessions.user
            WHERE sessions.token_hash = ? AND sessions.expires_at > ?
            """, tokenHash, now
        ) { row in
            Session(
                tokenHash: tokenHash, userName: row.text(0), createdAt: row.timestamp(1), expiresAt: row.timestamp(2))
        }
    }

    func removeSession(tokenHash: [UInt8]) throws(StorageError) -> Bool {
        try connection.run("DELETE FROM sessions WHERE token_hash = ?", tokenHash)
        return connection.changes > 0
    }

    func sessionCount(of name: String, at now: Timestamp) throws(StorageError) -> Int {
        try connection.first(
            "SELECT count(*) FROM sessions WHERE user = ? AND expires_at > ?", name.lowercased(), now
        ) { Int($0.integer(0)) } ?? 0
    }

    func removeSessions(of name: String) throws(StorageError) {
        try connection.run("DELETE FROM sessions WHERE user = ?", name.lowercased())
    }

    private static func user(_ row: Statement) -> User {
        let roles = (row.optionalText(3) ?? "").split(separator: " ").map(String.init)
        return User(name: row.text(0), passwordHash: row.text(1), createdAt: row.timestamp(2), roles: Set(roles))
    }
}
