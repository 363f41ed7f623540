import MartletCore
import MartletModel
import MartletPostgres

extension StorageInProgress: PayloadStore {
    func addPayload(_ draft: PayloadDraft, quota: Int64) async throws(StorageError) -> PayloadAddition {
        try await built.addPayload(draft, quota: quota)
    }

    func payloadSize(sentBy user: String, at now: Timestamp) async throws(StorageError) -> Int64 {
        try await built.payloadSize(sentBy: user, at: now)
    }

    func addAddressees(_ users: [String], of id: PayloadID) async throws(StorageError) {
        try await built.addAddressees(users, of: id)
    }

    func publish(_ id: PayloadID) async throws(StorageError) {
        try await built.publish(id)
    }

    func withdraw(_ id: PayloadID) async throws(StorageError) {
        try await built.withdraw(id)
    }

    func payload(_ id: PayloadID, for user: String, at now: Timestamp) async throws(StorageError) -> AddressedPayload? {
        try await built.payload(id, for: user, at: now)
    }

    func readPayload(
        _ id: PayloadID, for user: String, at now: Timestamp, from address: String
    ) async throws(StorageError) -> AddressedPayload? {
        try await built.readPayload(id, for: user, at: now, from: address)
    }

    func readers(
        of id: PayloadID, sentBy user: String, after name: String?, limit: Int, at now: Timestamp
    ) async throws(StorageError) -> [PayloadReader]? {
        try await built.readers(of: id, sentBy: user, after: name, limit: limit, at: now)
    }

    func audit(_ access: PayloadAccess) async throws(StorageError) {
        try await built.audit(access)
    }

    func auditEntries(_ query: AuditQuery) async throws(StorageError) -> [AuditEntry] {
        try await built.auditEntries(query)
    }
}
