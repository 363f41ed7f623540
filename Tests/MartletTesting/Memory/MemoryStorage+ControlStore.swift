public import MartletCore
public import MartletModel
import Synchronization

extension MemoryStorage: ControlStore {
    public func control(
        _ wish: ControlRequest, _ id: NotificationID, in hub: Hub.ID, at now: Timestamp
    ) async throws(StorageError) -> ControlChange {
        state.withLock { state in
            guard let index = state.index(of: id, in: hub) else { return .notFound }
            let entry = state.notifications[index]
            guard let control = entry.control.after(wish, hasEnded: state.hasEnded(entry)) else { return .ended }
            if control != entry.control {
                state.notifications[index].control = control
                state.notifications[index].controlledAt = now
                if control == .running {
                    state.notifications[index].countedFrom = state.deliveries(of: entry).map { SendCounts($0.counts) }
                        .reduce(SendCounts(), +)
                }
            }
            let open = state.deliveries(of: entry).map(\.progress).filter { !$0.state.isFinal }
            return .done(control, sequence: entry.notification.sequence, open: open.map(\.delivery.id))
        }
    }

    public func controlled() async throws(StorageError) -> [ControlledNotification] {
        state.withLock { state in
            state.notifications.filter { $0.control != .running && !state.hasEnded($0) }
                .map {
                    ControlledNotification(
                        notification: $0.notification.sequence, hub: $0.notification.hub, control: $0.control)
                }
        }
    }

    public func hasEnded(_ sequence: Int64) async throws(StorageError) -> Bool {
        state.withLock { state in
            state.notifications.first { $0.notification.sequence == sequence }.map(state.hasEnded) ?? true
        }
    }

    public func setAudience(_ count: Int, ofRollout sequence: Int64) async throws(StorageError) -> Int? {
        state.withLock { state in
            guard let index = state.notifications.firstIndex(where: { $0.notification.sequence == sequence }) else {
                return nil
            }
            state.notifications[index].audience = state.notifications[index].audience ?? count
            return state.notifications[index].audience
        }
    }

    public func record(ofRollout sequence: Int64) async throws(StorageError) -> RolloutRecord? {
        state.withLock { state in
            state.notifications.first { $0.notification.sequence == sequence }
                .map { RolloutRecord(audience: $0.audience, lastSentAt: $0.lastSentAt) }
        }
    }

    public func status(_ id: NotificationID, in hub: Hub.ID) async throws(StorageError) -> SendStatus? {
        state.withLock { state in
            guard let entry = state.index(of: id, in: hub).map({ state.notifications[$0] }) else { return nil }
            return SendStatus(
                report: state.report(entry), control: entry.control, controlledAt: entry.controlledAt,
                audience: entry.audience, countedFrom: entry.countedFrom,
                deliveries: state.deliveries(of: entry).map(\.status))
        }
    }
}

extension MemoryState {
    fileprivate func hasEnded(_ entry: MemoryNotification) -> Bool {
        entry.canceledAt != nil && entry.begunAt == nil
            || entry.begunAt != nil && deliveries(of: entry).allSatisfy(\.progress.state.isFinal)
    }
}

extension MemoryDelivery {
    fileprivate var status: DeliveryStatus {
        let held = retries.values.count { $0.outcome == .held }
        return DeliveryStatus(
            report: report, isFannedOut: progress.isFannedOut, retrying: retries.count - held, held: held)
    }
}
