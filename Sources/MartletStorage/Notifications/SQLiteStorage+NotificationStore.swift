public import MartletCore
public import MartletModel

extension SQLiteStorage: NotificationStore {
    public func accept(_ draft: NotificationDraft) async throws(StorageError) -> Notification {
        try await writer.write { connection throws(StorageError) in try NotificationTable(connection).accept(draft) }
    }

    public func unfinished(
        after sequence: Int64, limit: Int
    ) async throws(StorageError) -> [DeliveryProgress] {
        try await readers.read { connection throws(StorageError) in
            try NotificationTable(connection).unfinished(after: sequence, limit: limit)
        }
    }

    public func record(_ step: DeliveryStep) async throws(StorageError) {
        try await writer.write { connection throws(StorageError) in try DeliveryTable(connection).record(step) }
    }

    public func retries(
        of notification: Int64, due now: Timestamp, limit: Int
    ) async throws(StorageError) -> [Retry] {
        try await readers.read { connection throws(StorageError) in
            try DeliveryTable(connection).retries(of: notification, due: now, limit: limit)
        }
    }

    public func nextRetry(of notification: Int64) async throws(StorageError) -> Timestamp? {
        try await readers.read { connection throws(StorageError) in
            try DeliveryTable(connection).nextRetry(of: notification)
        }
    }

    public func report(_ id: NotificationID, in hub: Hub.ID) async throws(StorageError) -> NotificationReport? {
        try await readers.read { connection throws(StorageError) in
            try NotificationTable(connection).report(id, in: hub)
        }
    }
}
