public import MartletCore
public import MartletModel

extension SQLiteStorage: NotificationStore {
    public var reachedStore: (any ReachedStore)? { nil }

    public func accept(_ draft: NotificationDraft) async throws(StorageError) -> Acceptance {
        try await takeIn { connection throws(StorageError) in try NotificationTable(connection).accept(draft) }
    }

    public func earlier(
        _ request: RequestIdentity, in hub: Hub.ID, at now: Timestamp
    ) async throws(StorageError) -> Acceptance? {
        try await readers.read { connection throws(StorageError) in
            try NotificationTable(connection).earlier(request, in: hub, at: now)
        }
    }

    public func nativePlatforms(in hub: Hub.ID) async throws(StorageError) -> [PlatformID] {
        try await readers.read { connection throws(StorageError) in
            try TagTable(connection).nativePlatforms(hub: hub)
        }
    }

    public func release(dueBy time: any TimeSource, limit: Int) async throws(StorageError) -> ReleasedNotifications {
        try await writer.write { connection throws(StorageError) in
            try NotificationTable(connection).release(due: time.now, limit: limit)
        }
    }

    public func nextDue() async throws(StorageError) -> Timestamp? {
        try await readers.read { connection throws(StorageError) in try NotificationTable(connection).nextDue() }
    }

    public func scheduled(_ query: ScheduleQuery) async throws(StorageError) -> [ScheduledNotification] {
        try await readers.read(.many) { connection throws(StorageError) in
            try NotificationTable(connection).scheduled(query)
        }
    }

    public func cancel(
        _ id: NotificationID, in hub: Hub.ID, at now: Timestamp
    ) async throws(StorageError) -> Cancellation {
        try await writer.write { connection throws(StorageError) in
            try NotificationTable(connection).cancel(id, in: hub, at: now)
        }
    }

    public func replace(_ draft: NotificationDraft) async throws(StorageError) -> Replacement {
        try await takeIn { connection throws(StorageError) in try NotificationTable(connection).replace(draft) }
    }

    public func deliveries(
        of notification: Int64, on platform: PlatformID?
    ) async throws(StorageError) -> [DeliveryProgress] {
        try await readers.read { connection throws(StorageError) in
            try DeliveryTable(connection).progress(ofNotification: notification)
                .filter { $0.delivery.platform == platform ?? $0.delivery.platform }
        }
    }

    public func handled(
        _ members: [AudienceMember], besides delivery: Delivery
    ) async throws(StorageError) -> Set<AudienceMember> {
        try await readers.read { connection throws(StorageError) in
            try DeliveryTable(connection).handled(members, besides: delivery)
        }
    }

    public func unfinished(
        after id: Delivery.ID, limit: Int
    ) async throws(StorageError) -> [DeliveryProgress] {
        try await readers.read(limit > 1 ? .many : .few) { connection throws(StorageError) in
            try DeliveryTable(connection).unfinished(after: id, limit: limit)
        }
    }

    @discardableResult
    public func record(_ step: DeliveryStep) async throws(StorageError) -> Bool {
        try await writer.write { connection throws(StorageError) in try DeliveryTable(connection).record(step) }
    }

    public func retries(
        of delivery: Delivery.ID, due now: Timestamp, limit: Int
    ) async throws(StorageError) -> [Retry] {
        try await readers.read { connection throws(StorageError) in
            try DeliveryTable(connection).retries(of: delivery, due: now, limit: limit)
        }
    }

    public func successors(
        of absent: [AudienceMember], present: [AudienceMember], in delivery: Delivery, at now: Timestamp
    ) async throws(StorageError) -> Successors {
        try await readers.read { connection throws(StorageError) in
            try SuccessorTable(connection, delivery, at: now).successors(of: absent, present: present)
        }
    }

    public func nextRetry(of delivery: Delivery.ID) async throws(StorageError) -> Timestamp? {
        try await readers.read { connection throws(StorageError) in
            try DeliveryTable(connection).nextRetry(of: delivery)
        }
    }

    public func expediteRetries(beyond timestamp: Timestamp, by amount: Duration) async throws(StorageError) {
        try await writer.write { connection throws(StorageError) in
            try DeliveryTable(connection).expediteRetries(beyond: timestamp, by: amount)
        }
    }

    public func expediteRetries(
        after outcome: OutcomeName, in hub: Hub.ID, at now: Timestamp, limit: Int
    ) async throws(StorageError) -> Int {
        try await writer.write { connection throws(StorageError) in
            try DeliveryTable(connection).expediteRetries(after: outcome, in: hub, at: now, limit: limit)
        }
    }

    public func report(_ id: NotificationID, in hub: Hub.ID) async throws(StorageError) -> NotificationReport? {
        try await readers.read { connection throws(StorageError) in
            try NotificationTable(connection).report(id, in: hub)
        }
    }

    public func refusals(
        of id: NotificationID, in hub: Hub.ID, after position: RefusalPosition, limit: Int
    ) async throws(StorageError) -> RefusalPage {
        try await readers.read { connection throws(StorageError) in
            try RefusalTable(connection).page(of: id, in: hub, after: position, limit: limit)
        }
    }

    public func refused(
        in hub: Hub.ID, after id: NotificationID?, limit: Int
    ) async throws(StorageError) -> [NotificationID] {
        try await readers.read { connection throws(StorageError) in
            try RefusalTable(connection).notifications(in: hub, after: id, limit: limit)
        }
    }
}
