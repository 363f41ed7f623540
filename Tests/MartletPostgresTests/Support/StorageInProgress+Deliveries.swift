import MartletCore
import MartletModel
import MartletPostgres

// The ports of notifications and deliveries, as far as they are built.

extension StorageInProgress: CollapseStore {
    func superseded(_ query: CollapseQuery) async throws(StorageError) -> Superseded { throw NotBuilt.error }
}

extension StorageInProgress: ControlStore {
    func control(
        _ wish: ControlRequest, _ id: NotificationID, in hub: Hub.ID, at now: Timestamp
    ) async throws(StorageError) -> ControlChange { throw NotBuilt.error }
    func controlled() async throws(StorageError) -> [ControlledNotification] { throw NotBuilt.error }
    func hasEnded(_ sequence: Int64) async throws(StorageError) -> Bool { throw NotBuilt.error }
    func setAudience(_ count: Int, ofRollout sequence: Int64) async throws(StorageError) -> Int? {
        throw NotBuilt.error
    }
    func setSample(_ sample: CountedSample, ofRollout sequence: Int64) async throws(StorageError) -> RolloutRecord? {
        throw NotBuilt.error
    }
    func canariesDue(at now: Timestamp, limit: Int) async throws(StorageError) -> [HeldCanary] { throw NotBuilt.error }
    func restartHolds(at now: Timestamp) async throws(StorageError) { throw NotBuilt.error }
    func recordWaitingForAnswers(of sequence: Int64, at now: Timestamp) async throws(StorageError) {
        throw NotBuilt.error
    }
    func record(ofRollout sequence: Int64) async throws(StorageError) -> RolloutRecord? { throw NotBuilt.error }
    func status(_ id: NotificationID, in hub: Hub.ID) async throws(StorageError) -> SendStatus? { throw NotBuilt.error }
}

extension StorageInProgress: DeadLetterStore {
    func resend(_ draft: ResendDraft) async throws(StorageError) -> ResendAcceptance { throw NotBuilt.error }
    func resends(of id: NotificationID, in hub: Hub.ID) async throws(StorageError) -> [ResendRecord] {
        throw NotBuilt.error
    }
    func resendMembers(
        of delivery: Delivery, after last: AudienceMember, limit: Int
    ) async throws(StorageError) -> ResendPage { throw NotBuilt.error }
    func latestRefused(
        in hub: Hub.ID, before id: NotificationID?, limit: Int
    ) async throws(StorageError) -> [NotificationID] { throw NotBuilt.error }
    func refusalReasons(
        of id: NotificationID, in hub: Hub.ID, lookLimit: Int, limit: Int
    ) async throws(StorageError) -> RefusalReasons { throw NotBuilt.error }
}

extension StorageInProgress: FunnelStore {
    func funnelEvidence(of id: NotificationID, in hub: Hub.ID) async throws(StorageError) -> FunnelEvidence {
        throw NotBuilt.error
    }
}

extension StorageInProgress: LaneStore {
    func persistedLaneStates(at now: Timestamp) async throws(StorageError) -> [PersistedLaneState] {
        throw NotBuilt.error
    }
    func forgetPauses(of hub: Hub.ID) async throws(StorageError) { throw NotBuilt.error }
}

extension StorageInProgress: NotificationStore {
    func accept(_ draft: NotificationDraft) async throws(StorageError) -> Acceptance { throw NotBuilt.error }
    func nativePlatforms(in hub: Hub.ID) async throws(StorageError) -> [PlatformID] { throw NotBuilt.error }
    func release(due now: Timestamp, limit: Int) async throws(StorageError) -> ReleasedNotifications {
        throw NotBuilt.error
    }
    func nextDue() async throws(StorageError) -> Timestamp? { throw NotBuilt.error }
    func scheduled(_ query: ScheduleQuery) async throws(StorageError) -> [ScheduledNotification] {
        throw NotBuilt.error
    }
    func cancel(_ id: NotificationID, in hub: Hub.ID, at now: Timestamp) async throws(StorageError) -> Cancellation {
        throw NotBuilt.error
    }
    func replace(_ draft: NotificationDraft) async throws(StorageError) -> Replacement { throw NotBuilt.error }
    func deliveries(of notification: Int64, on platform: PlatformID?) async throws(StorageError) -> [DeliveryProgress] {
        throw NotBuilt.error
    }
    func handled(
        _ members: [AudienceMember], besides delivery: Delivery
    ) async throws(StorageError) -> Set<AudienceMember> { throw NotBuilt.error }
    func unfinished(after id: Delivery.ID, limit: Int) async throws(StorageError) -> [DeliveryProgress] {
        throw NotBuilt.error
    }
    func record(_ step: DeliveryStep) async throws(StorageError) -> Bool { throw NotBuilt.error }
    func retries(of delivery: Delivery.ID, due now: Timestamp, limit: Int) async throws(StorageError) -> [Retry] {
        throw NotBuilt.error
    }
    func successors(
        of absent: [AudienceMember], present: [AudienceMember], in delivery: Delivery, at now: Timestamp
    ) async throws(StorageError) -> Successors { throw NotBuilt.error }
    func nextRetry(of delivery: Delivery.ID) async throws(StorageError) -> Timestamp? { throw NotBuilt.error }
    func expediteRetries(beyond timestamp: Timestamp, by amount: Duration) async throws(StorageError) {
        throw NotBuilt.error
    }
    func report(_ id: NotificationID, in hub: Hub.ID) async throws(StorageError) -> NotificationReport? {
        throw NotBuilt.error
    }
    func refusals(
        of id: NotificationID, in hub: Hub.ID, after position: RefusalPosition, limit: Int
    ) async throws(StorageError) -> RefusalPage { throw NotBuilt.error }
    func refused(in hub: Hub.ID, after id: NotificationID?, limit: Int) async throws(StorageError) -> [NotificationID] {
        throw NotBuilt.error
    }
}

extension StorageInProgress: ReceiptStore {
    func addReceipts(_ receipts: [Receipt], from source: ReceiptSource, at now: Timestamp) async throws(StorageError) {
        throw NotBuilt.error
    }
    func receipts(
        of subject: Receipt.Subject, in hub: Hub.ID, after last: DeviceReceipt?, limit: Int
    ) async throws(StorageError) -> [DeviceReceipt] { throw NotBuilt.error }
}

extension StorageInProgress: TraceStore {
    func traced(_ id: NotificationID, in hub: Hub.ID) async throws(StorageError) -> TracedNotification? {
        throw NotBuilt.error
    }
    func evidence(
        of members: [AudienceMember], in delivery: Delivery.ID
    ) async throws(StorageError) -> DeliveryEvidence? { throw NotBuilt.error }
    func receipts(
        of notification: NotificationID, from device: String, in hub: Hub.ID
    ) async throws(StorageError) -> [DeviceReceipt] { throw NotBuilt.error }
}
