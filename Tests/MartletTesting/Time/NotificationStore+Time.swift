public import MartletCore
public import MartletModel

extension NotificationStore {
    /// Begins what is due at a time.
    public func release(due now: Timestamp, limit: Int) async throws(StorageError) -> ReleasedNotifications {
        try await release(dueBy: ManualTimeSource(now), limit: limit)
    }
}
