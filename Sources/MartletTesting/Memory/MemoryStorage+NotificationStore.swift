public import MartletCore
public import MartletModel
import Synchronization

extension MemoryStorage: NotificationStore {
    public func accept(_ draft: NotificationDraft) async throws(StorageError) -> Notification {
        state.withLock { state in
            state.lastNotification += 1
            let notification = Notification(
                sequence: state.lastNotification, draft, lastChannel: state.lastChannel(for: draft))
            state.notifications.append(
                MemoryNotification(
                    progress: DeliveryProgress(
                        notification: notification, state: .enqueued, cursor: .none, isFannedOut: false)))
            return notification
        }
    }

    public func unfinished(
        after sequence: Int64, limit: Int
    ) async throws(StorageError) -> [DeliveryProgress] {
        state.withLock { state in
            let open = state.notifications.lazy.map(\.progress).filter {
                !$0.state.isFinal && $0.notification.sequence > sequence
            }
            return Array(open.prefix(limit))
        }
    }

    public func record(_ step: DeliveryStep) async throws(StorageError) {
        state.withLock { state in
            guard let place = state.place(of: step.notification) else { return }
            state.notifications[place].record(step)
        }
    }

    public func retries(
        of notification: Int64, due now: Timestamp, limit: Int
    ) async throws(StorageError) -> [Retry] {
        state.withLock { state in
            let due = state.retries(of: notification).filter { $0.dueAt <= now }
            return Array(due.sorted { ($0.dueAt, $0.channel) < ($1.dueAt, $1.channel) }.prefix(limit))
        }
    }

    public func nextRetry(of notification: Int64) async throws(StorageError) -> Timestamp? {
        state.withLock { $0.retries(of: notification).map(\.dueAt).min() }
    }

    public func report(_ id: NotificationID, in hub: Hub.ID) async throws(StorageError) -> NotificationReport? {
        state.withLock { state in
            let found = state.notifications.first {
                $0.progress.notification.id == id && $0.progress.notification.hub == hub
            }
            return found.map {
                NotificationReport(
                    notification: $0.progress.notification, state: $0.progress.state, startedAt: $0.startedAt,
                    endedAt: $0.endedAt, counts: $0.counts)
            }
        }
    }

    /// What was refused for good, in the order of channels: for tests to look at.
    public func refusals(of notification: Int64) -> [Refusal] {
        state.withLock { state in
            guard let place = state.place(of: notification) else { return [] }
            return state.notifications[place].refusals.values.sorted { $0.channel < $1.channel }
        }
    }
}

extension MemoryState {
    fileprivate func place(of notification: Int64) -> Int? {
        notifications.firstIndex { $0.progress.notification.sequence == notification }
    }

    fileprivate func retries(of notification: Int64) -> [Retry] {
        place(of: notification).map { Array(notifications[$0].retries.values) } ?? []
    }

    fileprivate func lastChannel(for draft: NotificationDraft) -> ChannelID {
        guard case .audience = draft.target else { return .none }
        let native = registrations.filter {
            $0.hub == draft.hub && $0.registration.platform == draft.platform && $0.registration.template == nil
        }
        return native.map(\.channel).max() ?? .none
    }
}

extension MemoryNotification {
    fileprivate mutating func record(_ step: DeliveryStep) {
        if let cursor = step.cursor { progress.cursor = cursor }
        progress.isFannedOut = step.isFannedOut
        progress.state = step.state
        startedAt = startedAt ?? step.startedAt
        endedAt = step.endedAt ?? endedAt
        counts.merge(step.counts.filter { $0.value != 0 }, uniquingKeysWith: +)
        for refusal in step.refusals { refusals[refusal.channel] = refusal }
        for channel in step.settled { retries[channel] = nil }
        for retry in step.retries { retries[retry.channel] = retry }
    }
}
