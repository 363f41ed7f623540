public import MartletCore
public import MartletModel

extension PostgresStorage: UserStore {
    public func putUser(_ user: User) async throws(StorageError) {
        try await transaction { connection, patience throws(DatabaseFailure) in
            var batch = Batch(UserStatements.put) {
                $0.add(user.name.lowercased())
                $0.add(user.name)
                $0.add(user.passwordHash)
                $0.add(user.createdAt)
            }
            batch.add(UserStatements.endSessions) { $0.add(user.name.lowercased()) }
            try connection.run(batch, patience)
        }
    }

    public func changePassword(of name: String, to hash: String) async throws(StorageError) -> Bool {
        try await transaction { connection, patience throws(DatabaseFailure) in
            var batch = Batch(UserStatements.changePassword) {
                $0.add(name.lowercased())
                $0.add(hash)
            }
            batch.add(UserStatements.endSessions) { $0.add(name.lowercased()) }
            return try connection.run(batch, patience)[0].changes > 0
        }
    }

    public func user(_ name: String) async throws(StorageError) -> User? {
        let rows = try await read(Batch(UserStatements.find) { $0.add(name.lowercased()) })[0]
        return rows.count == 1 ? User(rows[0]) : nil
    }

    public func users(
        beginningWith prefix: String, after last: String?, limit: Int
    ) async throws(StorageError) -> [User] {
        let first = Array(prefix.lowercased().utf8)
        let batch = Batch(UserStatements.list) {
            $0.add(first)
            // 0xFF does not occur in UTF-8, so this text sorts after every name with the prefix.
            $0.add(first + [0xFF])
            $0.add(Array((last ?? "").lowercased().utf8))
            $0.add(Int64(limit))
        }
        let rows = try await read(batch)[0]
        return (0..<rows.count).map { User(rows[$0]) }
    }

    public func addRole(_ role: String, to name: String) async throws(StorageError) -> Bool {
        try await change(UserStatements.addRole) {
            $0.add(name.lowercased())
            $0.add(role)
        }
    }

    public func removeRole(_ role: String, from name: String) async throws(StorageError) -> Bool {
        try await change(UserStatements.removeRole) {
            $0.add(name.lowercased())
            $0.add(role)
        }
    }

    public func removeUser(_ name: String) async throws(StorageError) -> Bool {
        guard try await user(name) != nil else { return false }
        try await forgetAuthor(name)
        guard try await change(UserStatements.remove, { $0.add(name.lowercased()) }) else { return false }
        // Removes the author also from notifications that the user has sent in the meantime.
        try await forgetAuthor(name)
        return true
    }

    /// Removes a user as the author of notifications in this database.
    func forgetAuthor(_ name: String) async throws(StorageError) {
        let author = SendAuthor.user(name).description
        while try await forget(author) == UserStatements.portion {}
    }

    /// Removes an author from a portion of the author's notifications.
    /// - Returns: The number of changed notifications.
    private func forget(_ author: String) async throws(StorageError) -> Int {
        try await transaction { connection, patience throws(DatabaseFailure) in
            try connection.run(Batch(UserStatements.forget) { $0.add(author) }, patience)[0].changes
        }
    }

    public func addSession(_ session: Session) async throws(StorageError) {
        try await transaction { connection, patience throws(DatabaseFailure) in
            var batch = Batch(UserStatements.addSession) {
                $0.add(session.tokenHash)
                $0.add(session.createdAt)
                $0.add(session.expiresAt)
                $0.add(session.userName.lowercased())
            }
            batch.add(UserStatements.limitSessions) { $0.add(session.userName.lowercased()) }
            try connection.run(batch, patience)
        }
    }

    public func session(tokenHash: [UInt8], at now: Timestamp) async throws(StorageError) -> Session? {
        let batch = Batch(UserStatements.session) {
            $0.add(tokenHash)
            $0.add(now)
        }
        let rows = try await read(batch)[0]
        guard rows.count == 1 else { return nil }
        return Session(
            tokenHash: tokenHash, userName: rows[0].text(0), createdAt: rows[0].timestamp(1),
            expiresAt: rows[0].timestamp(2))
    }

    public func removeSession(tokenHash: [UInt8]) async throws(StorageError) -> Bool {
        try await change(UserStatements.removeSession) { $0.add(tokenHash) }
    }

    public func sessionCount(of name: String, at now: Timestamp) async throws(StorageError) -> Int {
        let batch = Batch(UserStatements.countSessions) {
            $0.add(name.lowercased())
            $0.add(now)
        }
        return Int(try await read(batch)[0][0].integer(0))
    }

    public func removeSessions(of name: String) async throws(StorageError) {
        _ = try await change(UserStatements.endSessions) { $0.add(name.lowercased()) }
    }
}

extension PostgresStorage {
    /// Runs one statement that writes, in a transaction of its own.
    /// - Returns: Whether it has written a row.
    func change(
        _ statement: Statement, _ fill: @escaping @Sendable (inout Parameters) -> Void
    ) async throws(StorageError) -> Bool {
        try await transaction { connection, patience throws(DatabaseFailure) in
            try connection.run(Batch(statement, fill), patience)[0].changes > 0
        }
    }
}

extension User {
    fileprivate init(_ row: Row) {
        self.init(
            name: row.text(0), passwordHash: row.text(1), createdAt: row.timestamp(2), roles: Set(row.texts(3)))
    }
}

enum UserStatements {
    private static let columns = "name, password_hash, created_at, roles"

    static let put = Statement.rare(
        [.bytes, .bytes, .text, .int8],
        """
        INSERT INTO users (folded_name, name, password_hash, created_at) VALUES ($1, $2, $3, $4)
        ON CONFLICT (folded_name) DO UPDATE SET password_hash = excluded.password_hash
        """)
    static let changePassword = Statement.rare(
        [.bytes, .text], "UPDATE users SET password_hash = $2 WHERE folded_name = $1")
    static let endSessions = Statement.rare([.bytes], "DELETE FROM sessions WHERE user_name = $1")
    static let find = Statement.rare([.bytes], "SELECT \(columns) FROM users WHERE folded_name = $1")
    static let list = Statement.rare(
        [.bytes, .bytes, .bytes, .int8],
        """
        SELECT \(columns) FROM users WHERE folded_name >= $1 AND folded_name < $2 AND folded_name > $3
        ORDER BY folded_name LIMIT $4
        """)
    static let addRole = Statement.rare(
        [.bytes, .text], "UPDATE users SET roles = array_append(array_remove(roles, $2), $2) WHERE folded_name = $1")
    static let removeRole = Statement.rare(
        [.bytes, .text], "UPDATE users SET roles = array_remove(roles, $2) WHERE folded_name = $1")
    static let remove = Statement.rare([.bytes], "DELETE FROM users WHERE folded_name = $1")
    static let portion = 1000
    static let forget = Statement.rare(
        [.bytes],
        """
        UPDATE notifications SET author = NULL WHERE ctid = ANY(ARRAY(
            SELECT ctid FROM notifications WHERE author = $1 AND substr(author, 1, 5) = 'user:' LIMIT \(portion)))
        """)

    /// Stores a session. If the session's user has been removed meanwhile, the session is not stored, and so grants no
    /// access. The statement locks the user's row, so a change of the password runs either before or after this
    /// transaction. If it runs before, the log-in sees the new password. If it runs after, the change ends this session
    /// too.
    static let addSession = Statement.rare(
        [.bytes, .int8, .int8, .bytes],
        """
        INSERT INTO sessions (token_hash, created_at, expires_at, user_name)
        SELECT $1, $2, $3, u.folded_name FROM users u WHERE u.folded_name = $4 FOR SHARE
        ON CONFLICT (token_hash) DO UPDATE SET created_at = excluded.created_at, expires_at = excluded.expires_at,
            user_name = excluded.user_name
        """)
    /// Ends the sessions that expire first, if the user has too many.
    static let limitSessions = Statement.rare(
        [.bytes],
        """
        DELETE FROM sessions WHERE token_hash = ANY(ARRAY(
            SELECT token_hash FROM sessions WHERE user_name = $1 ORDER BY expires_at DESC, created_at DESC
            OFFSET \(Session.limit)))
        """)
    static let session = Statement.rare(
        [.bytes, .int8],
        """
        SELECT u.name, s.created_at, s.expires_at FROM sessions s JOIN users u ON u.folded_name = s.user_name
        WHERE s.token_hash = $1 AND s.expires_at > $2
        """)
    static let countSessions = Statement.rare(
        [.bytes, .int8], "SELECT count(*) FROM sessions WHERE user_name = $1 AND expires_at > $2")
    static let removeSession = Statement.rare([.bytes], "DELETE FROM sessions WHERE token_hash = $1")
}
