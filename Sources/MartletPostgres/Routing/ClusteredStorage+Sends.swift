public import MartletCore
public import MartletModel

// Notifications, and all that is known about them, are in the cluster of their hub.

extension ClusteredStorage: NotificationStore {
    public func earlier(
        _ request: RequestIdentity, in hub: Hub.ID, at now: Timestamp
    ) async throws(StorageError) -> Acceptance? {
        try await storage(of: hub).earlier(request, in: hub, at: now)
    }

    public func nativePlatforms(in hub: Hub.ID) async throws(StorageError) -> [PlatformID] {
        try await storage(of: hub).nativePlatforms(in: hub)
    }

    public func scheduled(_ query: ScheduleQuery) async throws(StorageError) -> [ScheduledNotification] {
        try await storage(of: query.hub).scheduled(query)
    }

    public func cancel(
        _ id: NotificationID, in hub: Hub.ID, at now: Timestamp
    ) async throws(StorageError) -> Cancellation {
        try await storage(of: hub).cancel(id, in: hub, at: now)
    }

    public func replace(_ draft: NotificationDraft) async throws(StorageError) -> Replacement {
        try await storage(of: draft.hub).replace(draft)
    }

    public func deliveries(
        of notification: Int64, on platform: PlatformID?
    ) async throws(StorageError) -> [DeliveryProgress] {
        try await storage(ofNumber: notification).deliveries(of: notification, on: platform)
    }

    public func handled(
        _ members: [AudienceMember], besides delivery: Delivery
    ) async throws(StorageError) -> Set<AudienceMember> {
        try await storage(of: delivery.notification.hub).handled(members, besides: delivery)
    }

    @discardableResult
    public func record(_ step: DeliveryStep) async throws(StorageError) -> Bool {
        try await storage(of: step.delivery).record(step)
    }

    public func retries(of delivery: Delivery.ID, due now: Timestamp, limit: Int) async throws(StorageError) -> [Retry]
    {
        try await storage(of: delivery).retries(of: delivery, due: now, limit: limit)
    }

    public func successors(
        of absent: [AudienceMember], present: [AudienceMember], in delivery: Delivery, at now: Timestamp
    ) async throws(StorageError) -> Successors {
        try await storage(of: delivery.notification.hub).successors(of: absent, present: present, in: delivery, at: now)
    }

    public func nextRetry(of delivery: Delivery.ID) async throws(StorageError) -> Timestamp? {
        try await storage(of: delivery).nextRetry(of: delivery)
    }

    public func expediteRetries(
        after outcome: OutcomeName, in hub: Hub.ID, at now: Timestamp, limit: Int
    ) async throws(StorageError) -> Int {
        try await storage(of: hub).expediteRetries(after: outcome, in: hub, at: now, limit: limit)
    }

    public func report(_ id: NotificationID, in hub: Hub.ID) async throws(StorageError) -> NotificationReport? {
        try await storage(of: hub).report(id, in: hub)
    }

    public func refusals(
        of id: NotificationID, in hub: Hub.ID, after position: RefusalPosition, limit: Int
    ) async throws(StorageError) -> RefusalPage {
        try await storage(of: hub).refusals(of: id, in: hub, after: position, limit: limit)
    }

    public func refused(
        in hub: Hub.ID, after id: NotificationID?, limit: Int
    ) async throws(StorageError) -> [NotificationID] {
        try await storage(of: hub).refused(in: hub, after: id, limit: limit)
    }
}

extension ClusteredStorage: CollapseStore {
    public func superseded(_ query: CollapseQuery) async throws(StorageError) -> Superseded {
        try await storage(of: query.hub).superseded(query)
    }

    public func supersedeNothing(_ delivery: Delivery.ID, in hub: Hub.ID) async throws(StorageError) {
        try await storage(of: hub).supersedeNothing(delivery, in: hub)
    }
}

extension ClusteredStorage: ControlStore {
    public func control(
        _ wish: ControlRequest, _ id: NotificationID, in hub: Hub.ID, at now: Timestamp
    ) async throws(StorageError) -> ControlChange {
        try await storage(of: hub).control(wish, id, in: hub, at: now)
    }

    public func hasEnded(_ sequence: Int64) async throws(StorageError) -> Bool {
        try await storage(ofNumber: sequence).hasEnded(sequence)
    }

    public func setAudience(_ count: Int, ofRollout sequence: Int64) async throws(StorageError) -> Int? {
        try await storage(ofNumber: sequence).setAudience(count, ofRollout: sequence)
    }

    public func setSample(
        _ sample: CountedSample, ofRollout sequence: Int64
    ) async throws(StorageError) -> RolloutRecord? {
        try await storage(ofNumber: sequence).setSample(sample, ofRollout: sequence)
    }

    public func recordWaitingForAnswers(of sequence: Int64, at now: Timestamp) async throws(StorageError) {
        try await storage(ofNumber: sequence).recordWaitingForAnswers(of: sequence, at: now)
    }

    public func record(ofRollout sequence: Int64) async throws(StorageError) -> RolloutRecord? {
        try await storage(ofNumber: sequence).record(ofRollout: sequence)
    }

    public func correctLastSending(ofRollout sequence: Int64, at now: Timestamp) async throws(StorageError) {
        try await storage(ofNumber: sequence).correctLastSending(ofRollout: sequence, at: now)
    }

    public func status(_ id: NotificationID, in hub: Hub.ID) async throws(StorageError) -> SendStatus? {
        try await storage(of: hub).status(id, in: hub)
    }
}

extension ClusteredStorage: ReachedStore {
    public func reached(by delivery: Delivery.ID) async throws(StorageError) -> [DeliveredBitmap] {
        try await storage(of: delivery).reached(by: delivery)
    }

    @discardableResult
    public func record(_ blocks: ReachedBlocks, of delivery: Delivery.ID) async throws(StorageError) -> Bool {
        try await storage(of: delivery).record(blocks, of: delivery)
    }
}

extension ClusteredStorage: DeadLetterStore {
    public func resend(_ draft: ResendDraft) async throws(StorageError) -> ResendAcceptance {
        try await storage(of: draft.hub).resend(draft)
    }

    public func resends(of id: NotificationID, in hub: Hub.ID) async throws(StorageError) -> [ResendRecord] {
        try await storage(of: hub).resends(of: id, in: hub)
    }

    public func resendMembers(
        of delivery: Delivery, after last: AudienceMember, limit: Int
    ) async throws(StorageError) -> ResendPage {
        try await storage(of: delivery.notification.hub).resendMembers(of: delivery, after: last, limit: limit)
    }

    public func latestRefused(
        in hub: Hub.ID, before id: NotificationID?, limit: Int
    ) async throws(StorageError) -> [NotificationID] {
        try await storage(of: hub).latestRefused(in: hub, before: id, limit: limit)
    }

    public func refusalReasons(
        of id: NotificationID, in hub: Hub.ID, lookLimit: Int, limit: Int
    ) async throws(StorageError) -> RefusalReasons {
        try await storage(of: hub).refusalReasons(of: id, in: hub, lookLimit: lookLimit, limit: limit)
    }
}

extension ClusteredStorage: LaneStore {
    public func forgetPauses(of hub: Hub.ID) async throws(StorageError) {
        try await storage(of: hub).forgetPauses(of: hub)
    }
}
