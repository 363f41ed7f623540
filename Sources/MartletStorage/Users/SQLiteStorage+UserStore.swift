public import MartletCore
public import MartletModel

extension SQLiteStorage: UserStore {
    public func putUser(_ user: User) async throws(StorageError) {
        try await takeIn { connection throws(StorageError) in try UserTable(connection).put(user) }
    }

    public func changePassword(of name: String, to hash: String) async throws(StorageError) -> Bool {
        try await takeIn { connection throws(StorageError) in
            try UserTable(connection).changePassword(of: name, to: hash)
        }
    }

    public func user(_ name: String) async throws(StorageError) -> User? {
        try await readers.read { connection throws(StorageError) in try UserTable(connection).user(name) }
    }

    public func users(
        beginningWith prefix: String, after last: String?, limit: Int
    ) async throws(StorageError) -> [User] {
        try await readers.read { connection throws(StorageError) in
            try UserTable(connection).users(beginningWith: prefix, after: last, limit: limit)
        }
    }

    public func addRole(_ role: String, to name: String) async throws(StorageError) -> Bool {
        try await takeIn { connection throws(StorageError) in try UserTable(connection).addRole(role, to: name) }
    }

    public func removeRole(_ role: String, from name: String) async throws(StorageError) -> Bool {
        try await writer.write { connection throws(StorageError) in
            try UserTable(connection).removeRole(role, from: name)
        }
    }

    public func removeUser(_ name: String) async throws(StorageError) -> Bool {
        try await writer.write { connection throws(StorageError) in try UserTable(connection).remove(name) }
    }

    public func addSession(_ session: Session) async throws(StorageError) {
        try await takeIn { connection throws(StorageError) in try UserTable(connection).add(session) }
    }

    public func session(tokenHash: [UInt8], at now: Timestamp) async throws(StorageError) -> Session? {
        try await readers.read { connection throws(StorageError) in
            try UserTable(connection).session(tokenHash: tokenHash, at: now)
        }
    }

    public func removeSession(tokenHash: [UInt8]) async throws(StorageError) -> Bool {
        try await writer.write { connection throws(StorageError) in
            try UserTable(connection).removeSession(tokenHash: tokenHash)
        }
    }

    public func sessionCount(of name: String, at now: Timestamp) async throws(StorageError) -> Int {
        try await readers.read { connection throws(StorageError) in
            try UserTable(connection).sessionCount(of: name, at: now)
        }
    }

    public func removeSessions(of name: String) async throws(StorageError) {
        try await writer.write { connection throws(StorageError) in try UserTable(connection).removeSessions(of: name) }
    }
}
