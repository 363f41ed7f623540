import MartletCore
import MartletModel
import Synchronization

extension SQLiteStorage {
    /// Removes payloads that have expired, starting with their bodies. If a body cannot be removed, its payload is kept
    /// until the next sweep.
    /// - Throws: `StorageError`, also if a body could not be removed; then all other expired payloads have been
    ///   removed.
    func removeExpiredPayloads(at now: Timestamp) async throws(StorageError) {
        try await writer.write { connection throws(StorageError) in
            try PayloadRemoval(connection).expireUnpublished(at: now)
        }
        var failure: StorageError?
        var last: ExpiredPayload?
        while !Task.isCancelled {
            let page = try await readers.read { [last] connection throws(StorageError) in
                try PayloadRemoval(connection).expired(at: now, after: last)
            }
            guard !page.isEmpty else { break }
            last = page.last
            var bodiless: [PayloadID] = []
            for payload in page {
                do throws(StorageError) {
                    if let body = payload.body { try await removeBody(body) }
                    bodiless.append(payload.id)
                } catch {
                    failure = error
                }
            }
            try await remove(bodiless)
        }
        try await emptyLogOfRemovedTexts()
        if let failure { throw failure }
    }

    /// Records that the text of a payload was removed. The write-ahead log may still have copies of the text, which the
    /// next sweep removes.
    func recordRemovedText() {
        hasRemovedTexts.store(true, ordering: .releasing)
    }

    /// Transfers the log into the database and empties it, if texts of payloads have been removed.
    private func emptyLogOfRemovedTexts() async throws(StorageError) {
        guard hasRemovedTexts.exchange(false, ordering: .acquiringAndReleasing) else { return }
        // Waits for the checkpointer: if two checkpoints run at the same time, one of them fails.
        await checkpointer.settle()
        guard try await writer.emptyLog() else { return recordRemovedText() }
    }

    private func remove(_ ids: [PayloadID]) async throws(StorageError) {
        var isDone = false
        while !isDone {
            isDone = try await writer.write { connection throws(StorageError) in
                try PayloadRemoval(connection).removePortion(of: ids)
            }
        }
        recordRemovedText()
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
