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
                if control == .canceled {
                    for part in entry.waitingParts.indices {
                        let due = entry.waitingParts[part].dueAt
                        state.notifications[index].waitingParts[part].dueAt = min(due ?? now, now)
                    }
                    if entry.begunAt == nil { state.notifications[index].waitingParts = [] }
                }
            }
            if control == .running, entry.control != .paused, wish == .release || wish == .resume {
                state.release(index, at: now)
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

    public func setSample(
        _ sample: CountedSample, ofRollout sequence: Int64
    ) async throws(StorageError) -> RolloutRecord? {
        state.withLock { state in
            guard let index = state.notifications.firstIndex(where: { $0.notification.sequence == sequence }) else {
                return nil
            }
            if state.notifications[index].threshold == nil {
                state.notifications[index].threshold = sample.threshold
                state.notifications[index].audience = sample.audience
                for delivery in state.deliveries.indices
                where state.deliveries[delivery].progress.delivery.notification.sequence == sequence {
                    state.deliveries[delivery].progress.delivery.part?.threshold = sample.threshold
                }
                if sample.isWholeAudience { state.notifications[index].waitingParts.removeAll { $0.side == .rest } }
            }
            return state.notifications[index].rolloutRecord
        }
    }

    public func canariesDue(at now: Timestamp, limit: Int) async throws(StorageError) -> [HeldCanary] {
        state.withLock { state in
            state.notifications.filter { entry in entry.canaryDueAt.map { $0 <= now } ?? false && !state.hasEnded(entry)
            }
            .prefix(limit).map { entry in
                HeldCanary(
                    notification: entry.notification.sequence, id: entry.notification.id,
                    hub: entry.notification.hub)
            }
        }
    }

    public func correctHolds(at now: Timestamp) async throws(StorageError) {
        state.withLock { state in
            for (index, entry) in state.notifications.enumerated() where !state.hasEnded(entry) {
                for (part, waiting) in entry.waitingParts.enumerated() where waiting.side == .rest {
                    state.notifications[index].waitingParts[part].dueAt = waiting.dueAt.map { min($0, now) }
                }
                guard entry.releasedAt == nil, let heldAt = entry.heldAt, let wait = entry.notification.rollout?.wait,
                    heldAt + wait > now
                else { continue }
                state.notifications[index].heldAt = min(heldAt, now)
                state.notifications[index].isJudged = false
            }
        }
    }

    public func recordWaitingForAnswers(of sequence: Int64, at now: Timestamp) async throws(StorageError) {
        state.withLock { state in
            guard let index = state.notifications.firstIndex(where: { $0.notification.sequence == sequence }) else {
                return
            }
            state.notifications[index].isJudged = true
        }
    }

    public func record(ofRollout sequence: Int64) async throws(StorageError) -> RolloutRecord? {
        state.withLock { state in
            state.notifications.first { $0.notification.sequence == sequence }
                .map(\.rolloutRecord)
        }
    }

    public func correctLastSending(ofRollout sequence: Int64, at now: Timestamp) async throws(StorageError) {
        state.withLock { state in
            guard let index = state.notifications.firstIndex(where: { $0.notification.sequence == sequence }) else {
                return
            }
            state.notifications[index].lastSentAt = state.notifications[index].lastSentAt.map { min($0, now) }
        }
    }

    public func status(_ id: NotificationID, in hub: Hub.ID) async throws(StorageError) -> SendStatus? {
        state.withLock { state in
            guard let entry = state.index(of: id, in: hub).map({ state.notifications[$0] }) else { return nil }
            return SendStatus(
                report: state.report(entry), control: entry.control, controlledAt: entry.controlledAt,
                audience: entry.audience, countedFrom: entry.countedFrom,
                deliveries: state.deliveries(of: entry).map(\.status),
                canary: entry.notification.rollout?.sample.map { sample in
                    CanaryState(
                        sample: sample, wait: entry.notification.rollout?.wait, heldAt: entry.heldAt,
                        releasedAt: entry.releasedAt)
                }, waitingParts: entry.waitingParts.count)
        }
    }
}

extension MemoryState {
    /// Releases the rest of a canary, if the canary holds: opens the gate of the part of the rest.
    fileprivate mutating func release(_ index: Int, at now: Timestamp) {
        let entry = notifications[index]
        guard entry.heldAt != nil, entry.releasedAt == nil, entry.waitingParts.contains(where: { $0.dueAt == nil })
        else {
            return
        }
        notifications[index].releasedAt = now
        notifications[index].countedFrom = deliveries(of: entry).map { SendCounts($0.counts) }
            .reduce(SendCounts(), +)
        for part in entry.waitingParts.indices where entry.waitingParts[part].dueAt == nil {
            notifications[index].waitingParts[part].dueAt = now
        }
    }

    func hasEnded(_ entry: MemoryNotification) -> Bool {
        entry.canceledAt != nil && entry.begunAt == nil
            || entry.begunAt != nil && entry.waitingParts.isEmpty
                && deliveries(of: entry).allSatisfy(\.progress.state.isFinal)
    }
}

extension MemoryNotification {
    fileprivate var rolloutRecord: RolloutRecord {
        RolloutRecord(audience: audience, lastSentAt: lastSentAt, threshold: threshold)
    }
}

extension MemoryDelivery {
    fileprivate var status: DeliveryStatus {
        let held = retries.values.count { $0.outcome == .held }
        return DeliveryStatus(
            report: report, isFannedOut: progress.isFannedOut, retrying: retries.count - held, held: held,
            side: progress.delivery.part?.side)
    }
}
