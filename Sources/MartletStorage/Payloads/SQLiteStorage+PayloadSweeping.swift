import MartletCore
import MartletModel
import Synchronization

extension SQLiteStorage {
    /// Removes payloads that have expired, and first their bodies: what could not be removed is tried again.
    func removeExpiredPayloads(at now: Timestamp) async throws(StorageError) {
        try await writer.write { connection throws(StorageError) in
            try PayloadRemoval(connection).expireUnpublished(at: now)
        }
        while !Task.isCancelled {
            let expired = try await readers.read { connection throws(StorageError) in
                try PayloadRemoval(connection).expired(at: now)
            }
            guard !expired.isEmpty else { return }
            for body in expired.compactMap(\.body) { try await removeBody(body) }
            try await remove(expired.map(\.id))
        }
    }

    /// To be called after the text of a payload was removed: copies of it are in the write-ahead log.
    func noteRemovedText() {
        hasRemovedTexts.store(true, ordering: .releasing)
    }

    /// Carries the log into the database, and empties it, where texts of payloads have been removed.
    func emptyLogOfRemovedTexts() async throws(StorageError) {
        guard hasRemovedTexts.exchange(false, ordering: .acquiringAndReleasing) else { return }
        // Of two checkpoints at the same time one fails.
        await checkpointer.settle()
        guard try await writer.emptyLog() else { return noteRemovedText() }
    }

    private func remove(_ ids: [PayloadID]) async throws(StorageError) {
        var isDone = false
        while !isDone {
            isDone = try await writer.write { connection throws(StorageError) in
                try PayloadRemoval(connection).removePortion(of: ids)
            }
        }
        noteRemovedText()
    }

    private func removeBody(_ name: String) async throws(StorageError) {
        do throws(ContainerError) {
            try await payloadBodies.remove(name)
        } catch {
            if case .storage(let error) = error { throw error }
            throw StorageError(.unavailable, "The body of a payload could not be removed: \(error).")
        }
    }
}
