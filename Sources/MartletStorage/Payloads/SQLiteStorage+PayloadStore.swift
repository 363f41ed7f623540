public import MartletCore
public import MartletModel

extension SQLiteStorage: PayloadStore {
    public func addPayload(_ draft: PayloadDraft, quota: Int64) async throws(StorageError) -> PayloadAddition {
        try await takeIn { [sealer] connection throws(StorageError) in
            try PayloadTable(connection).add(draft, quota: quota, sealer)
        }
    }

    public func payloadSize(sentBy user: String, at now: Timestamp) async throws(StorageError) -> Int64 {
        try await readers.read { connection throws(StorageError) in
            try PayloadTable(connection).liveSize(of: user, at: now)
        }
    }

    public func addAddressees(_ users: [String], of id: PayloadID) async throws(StorageError) {
        try await takeIn { connection throws(StorageError) in
            try PayloadTable(connection).addAddressees(users, of: id)
        }
    }

    public func publish(_ id: PayloadID) async throws(StorageError) {
        try await writer.write { connection throws(StorageError) in try PayloadTable(connection).publish(id) }
    }

    public func withdraw(_ id: PayloadID) async throws(StorageError) {
        try await writer.write { connection throws(StorageError) in try PayloadTable(connection).withdraw(id) }
        recordRemovedText()
    }

    public func payload(
        _ id: PayloadID, for user: String, at now: Timestamp
    ) async throws(StorageError) -> AddressedPayload? {
        let found = try await readers.read { connection throws(StorageError) in
            try PayloadReading(connection).find(id, for: user, at: now)
        }
        return try found?.opened(with: sealer)
    }

    public func readPayload(
        _ id: PayloadID, for user: String, at now: Timestamp, from address: String
    ) async throws(StorageError) -> AddressedPayload? {
        let found = try await writer.write { connection throws(StorageError) in
            try PayloadReading(connection).read(id, for: user, at: now, from: address)
        }
        if found.removedText { recordRemovedText() }
        return try found.payload?.opened(with: sealer)
    }

    public func readers(
        of id: PayloadID, sentBy user: String, after name: String?, limit: Int, at now: Timestamp
    ) async throws(StorageError) -> [PayloadReader]? {
        try await readers.read { connection throws(StorageError) in
            try PayloadReading(connection).readers(of: id, sentBy: user, after: name, limit: limit, at: now)
        }
    }

    public func audit(_ access: PayloadAccess) async throws(StorageError) {
        try await writer.write { connection throws(StorageError) in try AuditTable(connection).insert(access) }
    }

    public func auditEntries(_ query: AuditQuery) async throws(StorageError) -> [AuditEntry] {
        try await readers.read { connection throws(StorageError) in try AuditTable(connection).entries(query) }
    }
}
