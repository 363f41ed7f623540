import MartletCore
import MartletModel
import Synchronization

/// Takes so many notifications and then has no room left.
final class FailingNotifications: NotificationStore {
    private let store: any NotificationStore
    private let left: Mutex<Int>

    init(_ store: any NotificationStore, after count: Int) {
        self.store = store
        left = Mutex(count)
    }

    var reachedStore: (any ReachedStore)? { store.reachedStore }

    func makeRoom() { left.withLock { $0 = .max } }

    func accept(_ draft: NotificationDraft) async throws(StorageError) -> Acceptance {
        let isFull = left.withLock { left in
            left -= 1
            return left < 0
        }
        guard !isFull else { throw StorageError(.full, "The disk has no room left.") }
        return try await store.accept(draft)
    }

    func earlier(
        _ request: RequestIdentity, in hub: Hub.ID, at now: Timestamp
    ) async throws(StorageError) -> Acceptance? {
        try await store.earlier(request, in: hub, at: now)
    }

    func nativePlatforms(in hub: Hub.ID) async throws(StorageError) -> [PlatformID] {
        try await store.nativePlatforms(in: hub)
    }

    func release(dueBy time: any TimeSource, limit: Int) async throws(StorageError) -> ReleasedNotifications {
        try await store.release(dueBy: time, limit: limit)
    }

    func deliveries(
        of notification: Int64, on platform: PlatformID?
    ) async throws(StorageError) -> [DeliveryProgress] {
        try await store.deliveries(of: notification, on: platform)
    }

    func handled(
        _ members: [AudienceMember], besides delivery: Delivery
    ) async throws(StorageError) -> Set<AudienceMember> {
        try await store.handled(members, besides: delivery)
    }

    func nextDue() async throws(StorageError) -> Timestamp? { try await store.nextDue() }

    func scheduled(_ query: ScheduleQuery) async throws(StorageError) -> [ScheduledNotification] {
        try await store.scheduled(query)
    }

    func cancel(_ id: NotificationID, in hub: Hub.ID, at now: Timestamp) async throws(StorageError) -> Cancellation {
        try await store.cancel(id, in: hub, at: now)
    }

    func replace(_ draft: NotificationDraft) async throws(StorageError) -> Replacement {
        try await store.replace(draft)
    }

    func superseded(_ query: CollapseQuery) async throws(StorageError) -> Superseded {
        try await store.superseded(query)
    }

    func supersedeNothing(_ delivery: Delivery.ID, in hub: Hub.ID) async throws(StorageError) {
        try await store.supersedeNothing(delivery, in: hub)
    }

    func unfinished(after id: Delivery.ID, limit: Int) async throws(StorageError) -> [DeliveryProgress] {
        try await store.unfinished(after: id, limit: limit)
    }

    func record(_ step: DeliveryStep) async throws(StorageError) -> Bool { try await store.record(step) }

    func retries(of delivery: Delivery.ID, due now: Timestamp, limit: Int) async throws(StorageError) -> [Retry] {
        try await store.retries(of: delivery, due: now, limit: limit)
    }

    func successors(
        of absent: [AudienceMember], present: [AudienceMember], in delivery: Delivery, at now: Timestamp
    ) async throws(StorageError) -> Successors {
        try await store.successors(of: absent, present: present, in: delivery, at: now)
    }

    func nextRetry(of delivery: Delivery.ID) async throws(StorageError) -> Timestamp? {
        try await store.nextRetry(of: delivery)
    }

    func expediteRetries(beyond timestamp: Timestamp, by amount: Duration) async throws(StorageError) {
        try await store.expediteRetries(beyond: timestamp, by: amount)
    }

    func expediteRetries(
        after outcome: OutcomeName, in hub: Hub.ID, at now: Timestamp, limit: Int
    ) async throws(StorageError) -> Int {
        try await store.expediteRetries(after: outcome, in: hub, at: now, limit: limit)
    }

    func report(_ id: NotificationID, in hub: Hub.ID) async throws(StorageError) -> NotificationReport? {
        try await store.report(id, in: hub)
    }

    func refusals(
        of id: NotificationID, in hub: Hub.ID, after position: RefusalPosition, limit: Int
    ) async throws(StorageError) -> RefusalPage {
        try await store.refusals(of: id, in: hub, after: position, limit: limit)
    }

    func refused(
        in hub: Hub.ID, after id: NotificationID?, limit: Int
    ) async throws(StorageError) -> [NotificationID] {
        try await store.refused(in: hub, after: id, limit: limit)
    }
}
