public import MartletCore
public import MartletModel

// What belongs to the namespace and to no hub is in the first cluster.

extension ClusteredStorage: UserStore {
    public func putUser(_ user: User) async throws(StorageError) {
        try await home.putUser(user)
    }

    public func changePassword(of name: String, to hash: String) async throws(StorageError) -> Bool {
        try await home.changePassword(of: name, to: hash)
    }

    public func user(_ name: String) async throws(StorageError) -> User? {
        try await home.user(name)
    }

    public func users(
        beginningWith prefix: String, after last: String?, limit: Int
    ) async throws(StorageError) -> [User] {
        try await home.users(beginningWith: prefix, after: last, limit: limit)
    }

    public func addRole(_ role: String, to name: String) async throws(StorageError) -> Bool {
        try await home.addRole(role, to: name)
    }

    public func removeRole(_ role: String, from name: String) async throws(StorageError) -> Bool {
        try await home.removeRole(role, from: name)
    }

    public func removeUser(_ name: String) async throws(StorageError) -> Bool {
        let others = try all.dropFirst()
        for storage in others { try await storage.forgetAuthor(name) }
        guard try await home.removeUser(name) else { return false }
        // Removes the author also from notifications that the user has sent in the meantime.
        for storage in others { try await storage.forgetAuthor(name) }
        return true
    }

    public func addSession(_ session: Session) async throws(StorageError) {
        try await home.addSession(session)
    }

    public func session(tokenHash: [UInt8], at now: Timestamp) async throws(StorageError) -> Session? {
        try await home.session(tokenHash: tokenHash, at: now)
    }

    public func removeSession(tokenHash: [UInt8]) async throws(StorageError) -> Bool {
        try await home.removeSession(tokenHash: tokenHash)
    }

    public func sessionCount(of name: String, at now: Timestamp) async throws(StorageError) -> Int {
        try await home.sessionCount(of: name, at: now)
    }

    public func removeSessions(of name: String) async throws(StorageError) {
        try await home.removeSessions(of: name)
    }
}

extension ClusteredStorage: PayloadStore {
    public func addPayload(_ draft: PayloadDraft, quota: Int64) async throws(StorageError) -> PayloadAddition {
        try await home.addPayload(draft, quota: quota)
    }

    public func payloadSize(sentBy user: String, at now: Timestamp) async throws(StorageError) -> Int64 {
        try await home.payloadSize(sentBy: user, at: now)
    }

    public func addAddressees(_ users: [String], of id: PayloadID) async throws(StorageError) {
        try await home.addAddressees(users, of: id)
    }

    public func publish(_ id: PayloadID) async throws(StorageError) {
        try await home.publish(id)
    }

    public func withdraw(_ id: PayloadID) async throws(StorageError) {
        try await home.withdraw(id)
    }

    public func payload(
        _ id: PayloadID, for user: String, at now: Timestamp
    ) async throws(StorageError) -> AddressedPayload? {
        try await home.payload(id, for: user, at: now)
    }

    public func readPayload(
        _ id: PayloadID, for user: String, at now: Timestamp, from address: String
    ) async throws(StorageError) -> AddressedPayload? {
        try await home.readPayload(id, for: user, at: now, from: address)
    }

    public func readers(
        of id: PayloadID, sentBy user: String, after name: String?, limit: Int, at now: Timestamp
    ) async throws(StorageError) -> [PayloadReader]? {
        try await home.readers(of: id, sentBy: user, after: name, limit: limit, at: now)
    }

    public func audit(_ access: PayloadAccess) async throws(StorageError) {
        try await home.audit(access)
    }

    public func auditEntries(_ query: AuditQuery) async throws(StorageError) -> [AuditEntry] {
        try await home.auditEntries(query)
    }
}

extension ClusteredStorage: SendRecordStore {
    public func sendRecord(_ key: [UInt8], at now: Timestamp) async throws(StorageError) -> SendRecord? {
        try await home.sendRecord(key, at: now)
    }

    public func addSendRecord(_ record: SendRecord) async throws(StorageError) -> SendRecord {
        try await home.addSendRecord(record)
    }

    public func completeSend(_ key: [UInt8]) async throws(StorageError) {
        try await home.completeSend(key)
    }

    public func removeSendRecord(_ key: [UInt8]) async throws(StorageError) {
        try await home.removeSendRecord(key)
    }
}

extension ClusteredStorage: MetricHourStore {
    public func putHour(_ hour: Timestamp, figures: String) async throws(StorageError) {
        try await home.putHour(hour, figures: figures)
    }

    public func hours(since timestamp: Timestamp) async throws(StorageError) -> [(Timestamp, String)] {
        try await home.hours(since: timestamp)
    }
}
