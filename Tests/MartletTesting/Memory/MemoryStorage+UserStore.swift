public import MartletCore
public import MartletModel
import Synchronization

extension MemoryStorage: UserStore {
    public func putUser(_ user: User) async throws(StorageError) {
        state.withLock { state in
            let key = user.name.lowercased()
            var added = user
            added.roles = []
            state.users[key, default: added].passwordHash = user.passwordHash
            state.endSessions(of: key)
        }
    }

    public func changePassword(of name: String, to hash: String) async throws(StorageError) -> Bool {
        state.withLock { state in
            let key = name.lowercased()
            guard state.users[key] != nil else { return false }
            state.users[key]?.passwordHash = hash
            state.endSessions(of: key)
            return true
        }
    }

    public func user(_ name: String) async throws(StorageError) -> User? {
        state.withLock { $0.users[name.lowercased()] }
    }

    public func users(
        beginningWith prefix: String, after last: String?, limit: Int
    ) async throws(StorageError) -> [User] {
        state.withLock { state in
            let found = state.users.filter {
                $0.key.hasPrefix(prefix.lowercased()) && $0.key > last?.lowercased() ?? ""
            }
            return Array(found.sorted { $0.key < $1.key }.map(\.value).prefix(limit))
        }
    }

    public func addRole(_ role: String, to name: String) async throws(StorageError) -> Bool {
        state.withLock { $0.users[name.lowercased()]?.roles.insert(role) != nil }
    }

    public func removeRole(_ role: String, from name: String) async throws(StorageError) -> Bool {
        state.withLock { state in
            state.users[name.lowercased()]?.roles.remove(role)
            return state.users[name.lowercased()] != nil
        }
    }

    public func removeUser(_ name: String) async throws(StorageError) -> Bool {
        state.withLock { state in
            state.endSessions(of: name.lowercased())
            return state.users.removeValue(forKey: name.lowercased()) != nil
        }
    }

    public func addSession(_ session: Session) async throws(StorageError) {
        state.withLock { state in
            guard let user = state.users[session.userName.lowercased()] else { return }
            var stored = session
            stored.userName = user.name
            state.sessions[session.tokenHash] = stored
            let all = state.sessions.values.filter { $0.userName == user.name }.sorted { $0.expiresAt > $1.expiresAt }
            for surplus in all.dropFirst(Session.limit) { state.sessions[surplus.tokenHash] = nil }
        }
    }

    public func session(tokenHash: [UInt8], at now: Timestamp) async throws(StorageError) -> Session? {
        state.withLock { state in state.sessions[tokenHash].flatMap { $0.expiresAt > now ? $0 : nil } }
    }

    public func removeSession(tokenHash: [UInt8]) async throws(StorageError) -> Bool {
        state.withLock { $0.sessions.removeValue(forKey: tokenHash) != nil }
    }

    public func sessionCount(of name: String, at now: Timestamp) async throws(StorageError) -> Int {
        state.withLock { state in
            state.sessions.values.count { $0.userName.lowercased() == name.lowercased() && $0.expiresAt > now }
        }
    }

    public func removeSessions(of name: String) async throws(StorageError) {
        state.withLock { $0.endSessions(of: name.lowercased()) }
    }
}

extension MemoryState {
    fileprivate mutating func endSessions(of foldedName: String) {
        sessions = sessions.filter { $0.value.userName.lowercased() != foldedName }
    }
}
