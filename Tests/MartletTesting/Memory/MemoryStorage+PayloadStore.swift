public import MartletCore
public import MartletModel
import Synchronization

extension MemoryStorage: PayloadStore {
    public func addPayload(_ draft: PayloadDraft, quota: Int64) async throws(StorageError) -> PayloadAddition {
        state.withLock { state in
            let size = draft.content.countedSize
            guard size <= quota, state.contentSize(of: draft.sender, at: draft.createdAt) <= quota - size else {
                return .overQuota
            }
            var id = PayloadID.random()
            while state.payloads[id] != nil { id = .random() }
            state.payloads[id] = MemoryPayload(payload: StoredPayload(id: id, draft))
            return .added(id)
        }
    }

    public func payloadSize(sentBy user: String, at now: Timestamp) async throws(StorageError) -> Int64 {
        state.withLock { $0.contentSize(of: user, at: now) }
    }

    public func addAddressees(_ users: [String], of id: PayloadID) async throws(StorageError) {
        state.withLock { state in
            guard state.payloads[id]?.isPublished == false else { return }
            for user in users { state.payloads[id]?.readers[user] = .some(nil) }
        }
    }

    public func publish(_ id: PayloadID) async throws(StorageError) {
        state.withLock { $0.payloads[id]?.isPublished = true }
    }

    public func withdraw(_ id: PayloadID) async throws(StorageError) {
        state.withLock { state in
            state.payloads[id] = nil
            state.receipts = state.receipts.filter { $0.key.subject != .payload(id) }
        }
    }

    public func payload(
        _ id: PayloadID, for user: String, at now: Timestamp
    ) async throws(StorageError) -> AddressedPayload? {
        state.withLock { $0.addressed(id, to: user, at: now) }
    }

    public func readPayload(
        _ id: PayloadID, for user: String, at now: Timestamp, from address: String
    ) async throws(StorageError) -> AddressedPayload? {
        state.withLock { state in
            let found = state.addressed(id, to: user, at: now)
            state.record(
                PayloadAccess(
                    at: now, payload: id, user: user, outcome: found == nil ? .refused : .read, address: address))
            if let found { state.payloads[id]?.readers[user] = found.readAt ?? now }
            return found
        }
    }

    public func readers(
        of id: PayloadID, sentBy user: String, after name: String?, limit: Int, at now: Timestamp
    ) async throws(StorageError) -> [PayloadReader]? {
        state.withLock { state in
            guard let entry = state.payloads[id], entry.isPublished, entry.payload.expiresAt > now,
                entry.payload.sender == user, !state.isNewcomer(user, to: entry.payload)
            else { return nil }
            let readers = entry.readers.map { PayloadReader(user: $0.key, readAt: $0.value) }
                .sorted { $0.user.utf8.lexicographicallyPrecedes($1.user.utf8) }
            let after = readers.filter { reader in
                name.map { $0.utf8.lexicographicallyPrecedes(reader.user.utf8) } ?? true
            }
            return Array(after.prefix(limit))
        }
    }

    public func audit(_ access: PayloadAccess) async throws(StorageError) {
        state.withLock { $0.record(access) }
    }

    public func auditEntries(_ query: AuditQuery) async throws(StorageError) -> [AuditEntry] {
        state.withLock { state in
            let found = state.audit.filter { entry in
                (query.payload ?? entry.access.payload) == entry.access.payload
                    && (query.user ?? entry.access.user) == entry.access.user
            }
            return Array(found.suffix(query.limit))
        }
    }
}

extension MemoryState {
    func isAddressee(_ user: String, of id: PayloadID, at now: Timestamp) -> Bool {
        guard let entry = payloads[id], entry.isPublished, entry.payload.expiresAt > now else { return false }
        return entry.readers[user] != nil && !isNewcomer(user, to: entry.payload)
    }

    /// Returns true if a user was added after a payload was sent. Such a user may not read the payload.
    fileprivate func isNewcomer(_ user: String, to payload: StoredPayload) -> Bool {
        users[user].map { $0.createdAt > payload.createdAt } ?? false
    }

    fileprivate func addressed(_ id: PayloadID, to user: String, at now: Timestamp) -> AddressedPayload? {
        guard isAddressee(user, of: id, at: now), let entry = payloads[id] else { return nil }
        let readAt = entry.readers[user] ?? nil
        if entry.payload.isOnce, readAt != nil { return nil }
        return AddressedPayload(payload: entry.payload, readAt: readAt)
    }

    /// Returns the size in bytes that a sender's unexpired payloads count against the quota. A text that every
    /// addressee has read once counts only as a record.
    fileprivate func contentSize(of sender: String, at now: Timestamp) -> Int64 {
        payloads.values.reduce(0) { sum, entry in
            guard entry.payload.sender == sender, entry.payload.expiresAt > now else { return sum }
            return sum + (entry.isUsedUp ? StoredPayload.recordSize : entry.payload.content.countedSize)
        }
    }

    fileprivate mutating func record(_ access: PayloadAccess) {
        audit.append(AuditEntry(number: (audit.last?.number ?? 0) + 1, access: access))
    }
}

extension MemoryPayload {
    /// True if every addressee has read this payload, which is a text that can be read only once.
    fileprivate var isUsedUp: Bool {
        guard payload.isOnce, case .text = payload.content, isPublished else { return false }
        return !readers.isEmpty && readers.values.allSatisfy { $0 != nil }
    }
}
