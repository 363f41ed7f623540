import MartletCore

@testable import MartletStorage

extension SQLiteStorage {
    /// Adds a payload and publishes it.
    func send(_ draft: PayloadDraft, to users: [String]) async throws(StorageError) -> PayloadID {
        guard case .added(let id) = try await addPayload(draft, quota: .max) else {
            throw StorageError(.unavailable, "a payload without a quota was not added")
        }
        try await addAddressees(users, of: id)
        try await publish(id)
        return id
    }
}
