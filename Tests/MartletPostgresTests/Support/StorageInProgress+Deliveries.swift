import MartletCore
import MartletModel
import MartletPostgres

// The ports of notifications and deliveries.

extension StorageInProgress: CollapseStore {
    func superseded(_ query: CollapseQuery) async throws(StorageError) -> Superseded {
        try await built.superseded(query)
    }
}

extension StorageInProgress: ControlStore {
    func control(
        _ wish: ControlRequest, _ id: NotificationID, in hub: Hub.ID, at now: Timestamp
    ) async throws(StorageError) -> ControlChange {
        try await built.control(wish, id, in: hub, at: now)
    }

    func controlled() async throws(StorageError) -> [ControlledNotification] {
        try await built.controlled()
    }

    func hasEnded(_ sequence: Int64) async throws(StorageError) -> Bool {
        try await built.hasEnded(sequence)
    }

    func setAudience(_ count: Int, ofRollout sequence: Int64) async throws(StorageError) -> Int? {
        try await built.setAudience(count, ofRollout: sequence)
    }

    func setSample(_ sample: CountedSample, ofRollout sequence: Int64) async throws(StorageError) -> RolloutRecord? {
        try await built.setSample(sample, ofRollout: sequence)
    }

    func canariesDue(at now: Timestamp, limit: Int) async throws(StorageError) -> [HeldCanary] {
        try await built.canariesDue(at: now, limit: limit)
    }

    func restartHolds(at now: Timestamp) async throws(StorageError) {
        try await built.restartHolds(at: now)
    }

    func recordWaitingForAnswers(of sequence: Int64, at now: Timestamp) async throws(StorageError) {
        try await built.recordWaitingForAnswers(of: sequence, at: now)
    }

    func record(ofRollout sequence: Int64) async throws(StorageError) -> RolloutRecord? {
        try await built.record(ofRollout: sequence)
    }

    func status(_ id: NotificationID, in hub: Hub.ID) async throws(StorageError) -> SendStatus? {
        try await built.status(id, in: hub)
    }
}

extension StorageInProgress: DeadLetterStore {
    func resend(_ draft: ResendDraft) async throws(StorageError) -> ResendAcceptance {
        try await built.resend(draft)
    }

    func resends(of id: NotificationID, in hub: Hub.ID) async throws(StorageError) -> [ResendRecord] {
        try await built.resends(of: id, in: hub)
    }

    func resendMembers(
        of delivery: Delivery, after last: AudienceMember, limit: Int
    ) async throws(StorageError) -> ResendPage {
        try await built.resendMembers(of: delivery, after: last, limit: limit)
    }

    func latestRefused(
        in hub: Hub.ID, before id: NotificationID?, limit: Int
    ) async throws(StorageError) -> [NotificationID] {
        try await built.latestRefused(in: hub, before: id, limit: limit)
    }

    func refusalReasons(
        of id: NotificationID, in hub: Hub.ID, lookLimit: Int, limit: Int
    ) async throws(StorageError) -> RefusalReasons {
        try await built.refusalReasons(of: id, in: hub, lookLimit: lookLimit, limit: limit)
    }
}

extension StorageInProgress: FunnelStore {
    func funnelEvidence(of id: NotificationID, in hub: Hub.ID) async throws(StorageError) -> FunnelEvidence {
        try await built.funnelEvidence(of: id, in: hub)
    }
}

extension StorageInProgress: LaneStore {
    func persistedLaneStates(at now: Timestamp) async throws(StorageError) -> [PersistedLaneState] {
        try await built.persistedLaneStates(at: now)
    }

    func forgetPauses(of hub: Hub.ID) async throws(StorageError) {
        try await built.forgetPauses(of: hub)
    }
}

extension StorageInProgress: NotificationStore {
    func accept(_ draft: NotificationDraft) async throws(StorageError) -> Acceptance {
        try await built.accept(draft)
    }

    func nativePlatforms(in hub: Hub.ID) async throws(StorageError) -> [PlatformID] {
        try await built.nativePlatforms(in: hub)
    }

    func release(due now: Timestamp, limit: Int) async throws(StorageError) -> ReleasedNotifications {
        try await built.release(due: now, limit: limit)
    }

    func nextDue() async throws(StorageError) -> Timestamp? {
        try await built.nextDue()
    }

    func scheduled(_ query: ScheduleQuery) async throws(StorageError) -> [ScheduledNotification] {
        try await built.scheduled(query)
    }

    func cancel(_ id: NotificationID, in hub: Hub.ID, at now: Timestamp) async throws(StorageError) -> Cancellation {
        try await built.cancel(id, in: hub, at: now)
    }

    func replace(_ draft: NotificationDraft) async throws(StorageError) -> Replacement {
        try await built.replace(draft)
    }

    func deliveries(of notification: Int64, on platform: PlatformID?) async throws(StorageError) -> [DeliveryProgress] {
        try await built.deliveries(of: notification, on: platform)
    }

    func handled(
        _ members: [AudienceMember], besides delivery: Delivery
    ) async throws(StorageError) -> Set<AudienceMember> {
        try await built.handled(members, besides: delivery)
    }

    func unfinished(after id: Delivery.ID, limit: Int) async throws(StorageError) -> [DeliveryProgress] {
        try await built.unfinished(after: id, limit: limit)
    }

    func record(_ step: DeliveryStep) async throws(StorageError) -> Bool {
        try await built.record(step)
    }

    func retries(of delivery: Delivery.ID, due now: Timestamp, limit: Int) async throws(StorageError) -> [Retry] {
        try await built.retries(of: delivery, due: now, limit: limit)
    }

    func successors(
        of absent: [AudienceMember], present: [AudienceMember], in delivery: Delivery, at now: Timestamp
    ) async throws(StorageError) -> Successors {
        try await built.successors(of: absent, present: present, in: delivery, at: now)
    }

    func nextRetry(of delivery: Delivery.ID) async throws(StorageError) -> Timestamp? {
        try await built.nextRetry(of: delivery)
    }

    func expediteRetries(beyond timestamp: Timestamp, by amount: Duration) async throws(StorageError) {
        try await built.expediteRetries(beyond: timestamp, by: amount)
    }

    func report(_ id: NotificationID, in hub: Hub.ID) async throws(StorageError) -> NotificationReport? {
        try await built.report(id, in: hub)
    }

    func refusals(
        of id: NotificationID, in hub: Hub.ID, after position: RefusalPosition, limit: Int
    ) async throws(StorageError) -> RefusalPage {
        try await built.refusals(of: id, in: hub, after: position, limit: limit)
    }

    func refused(in hub: Hub.ID, after id: NotificationID?, limit: Int) async throws(StorageError) -> [NotificationID] {
        try await built.refused(in: hub, after: id, limit: limit)
    }
}

extension StorageInProgress: ReceiptStore {
    func addReceipts(_ receipts: [Receipt], from source: ReceiptSource, at now: Timestamp) async throws(StorageError) {
        try await built.addReceipts(receipts, from: source, at: now)
    }

    func receipts(
        of subject: Receipt.Subject, in hub: Hub.ID, after last: DeviceReceipt?, limit: Int
    ) async throws(StorageError) -> [DeviceReceipt] {
        try await built.receipts(of: subject, in: hub, after: last, limit: limit)
    }
}

extension StorageInProgress: TraceStore {
    func traced(_ id: NotificationID, in hub: Hub.ID) async throws(StorageError) -> TracedNotification? {
        try await built.traced(id, in: hub)
    }

    func evidence(
        of members: [AudienceMember], in delivery: Delivery.ID
    ) async throws(StorageError) -> DeliveryEvidence? {
        try await built.evidence(of: members, in: delivery)
    }

    func receipts(
        of notification: NotificationID, from device: String, in hub: Hub.ID
    ) async throws(StorageError) -> [DeviceReceipt] {
        try await built.receipts(of: notification, from: device, in: hub)
    }
}
