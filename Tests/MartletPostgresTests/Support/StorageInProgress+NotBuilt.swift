import MartletCore
import MartletModel
import MartletPostgres

/// The ports that are not built on PostgreSQL yet. Each of them fails in a way that the suite recognizes, so that the
/// requirements that need none of them are checked. A port that is built goes from here.
enum NotBuilt {
    static let error = StorageError(.unavailable, "This port is not built on PostgreSQL yet.")
}

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
}

extension StorageInProgress: FunnelStore {
    func funnelEvidence(of id: NotificationID, in hub: Hub.ID) async throws(StorageError) -> FunnelEvidence {
        throw NotBuilt.error
    }
}

extension StorageInProgress: JobStore {
    func createJob(_ job: Job) async throws(StorageError) { throw NotBuilt.error }
    func job(_ id: String, in hub: Hub.ID) async throws(StorageError) -> Job? { throw NotBuilt.error }
    func jobs(in hub: Hub.ID, limit: Int) async throws(StorageError) -> [Job] { throw NotBuilt.error }
    func unfinishedJobs() async throws(StorageError) -> [JobProgress] { throw NotBuilt.error }
    func record(_ progress: JobProgress) async throws(StorageError) -> Bool { throw NotBuilt.error }
    func apply(
        _ changes: [RegistrationChange], of job: String, in hub: Hub.ID, at now: Timestamp,
        _ progress: @escaping @Sendable ([Result<Registration, RegistrationRefusal>]) -> JobProgress
    ) async throws(StorageError) -> JobProgress? { throw NotBuilt.error }
    func registrationCount(in hub: Hub.ID) async throws(StorageError) -> Int64 { throw NotBuilt.error }
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

extension StorageInProgress: OperatorStore {
    func hasOperators() async throws(StorageError) -> Bool { throw NotBuilt.error }
    func operators(at now: Timestamp) async throws(StorageError) -> [OperatorSummary] { throw NotBuilt.error }
    func `operator`(_ name: String) async throws(StorageError) -> Operator? { throw NotBuilt.error }
    func invite(_ entry: Operator, by link: OperatorLink) async throws(StorageError) { throw NotBuilt.error }
    func addLink(_ link: OperatorLink) async throws(StorageError) -> Bool { throw NotBuilt.error }
    func link(tokenHash: [UInt8], at now: Timestamp) async throws(StorageError) -> (OperatorLink, Operator)? {
        throw NotBuilt.error
    }
    func useLink(
        tokenHash: [UInt8], passwordHash: String?, adding session: OperatorSession
    ) async throws(StorageError) -> Operator? { throw NotBuilt.error }
    func addSession(_ session: OperatorSession, ofPassword hash: String) async throws(StorageError) -> Bool {
        throw NotBuilt.error
    }
    func operatorSession(tokenHash: [UInt8]) async throws(StorageError) -> (OperatorSession, Operator)? {
        throw NotBuilt.error
    }
    func touchSession(tokenHash: [UInt8], at now: Timestamp, isConfirmed: Bool) async throws(StorageError) {
        throw NotBuilt.error
    }
    func operatorSessions(of name: String) async throws(StorageError) -> [OperatorSession] { throw NotBuilt.error }
    func removeOperatorSession(tokenHash: [UInt8]) async throws(StorageError) -> Bool { throw NotBuilt.error }
    func endSessions(of name: String, except kept: [UInt8]?) async throws(StorageError) -> Bool { throw NotBuilt.error }
    func change(_ name: String, _ change: OperatorChange) async throws(StorageError) -> OperatorChangeResult {
        throw NotBuilt.error
    }
    func begin(_ action: OperatorAction) async throws(StorageError) -> OperatorAction.ID { throw NotBuilt.error }
    func end(_ id: OperatorAction.ID, answer: Int) async throws(StorageError) { throw NotBuilt.error }
    func actions(_ query: OperatorActionQuery) async throws(StorageError) -> [(OperatorAction.ID, OperatorAction)] {
        throw NotBuilt.error
    }
    func sweepOperators(at now: Timestamp, limit: Int) async throws(StorageError) { throw NotBuilt.error }
}

extension StorageInProgress: PayloadStore {
    func addPayload(_ draft: PayloadDraft, quota: Int64) async throws(StorageError) -> PayloadAddition {
        throw NotBuilt.error
    }
    func payloadSize(sentBy user: String, at now: Timestamp) async throws(StorageError) -> Int64 {
        throw NotBuilt.error
    }
    func addAddressees(_ users: [String], of id: PayloadID) async throws(StorageError) { throw NotBuilt.error }
    func publish(_ id: PayloadID) async throws(StorageError) { throw NotBuilt.error }
    func withdraw(_ id: PayloadID) async throws(StorageError) { throw NotBuilt.error }
    func payload(_ id: PayloadID, for user: String, at now: Timestamp) async throws(StorageError) -> AddressedPayload? {
        throw NotBuilt.error
    }
    func readPayload(
        _ id: PayloadID, for user: String, at now: Timestamp, from address: String
    ) async throws(StorageError) -> AddressedPayload? { throw NotBuilt.error }
    func readers(
        of id: PayloadID, sentBy user: String, after name: String?, limit: Int, at now: Timestamp
    ) async throws(StorageError) -> [PayloadReader]? { throw NotBuilt.error }
    func audit(_ access: PayloadAccess) async throws(StorageError) { throw NotBuilt.error }
    func auditEntries(_ query: AuditQuery) async throws(StorageError) -> [AuditEntry] { throw NotBuilt.error }
}

extension StorageInProgress: ReceiptStore {
    func addReceipts(_ receipts: [Receipt], from source: ReceiptSource, at now: Timestamp) async throws(StorageError) {
        throw NotBuilt.error
    }
    func receipts(
        of subject: Receipt.Subject, in hub: Hub.ID, after last: DeviceReceipt?, limit: Int
    ) async throws(StorageError) -> [DeviceReceipt] { throw NotBuilt.error }
}

extension StorageInProgress: SendListStore {
    func sends(_ query: SendQuery) async throws(StorageError) -> SendPage { throw NotBuilt.error }
    func send(_ id: NotificationID, in hub: Hub.ID) async throws(StorageError) -> SendEntry? { throw NotBuilt.error }
    func sendTargets(in hub: Hub.ID, before: Int64?, window: Int64) async throws(StorageError) -> SendTargets {
        throw NotBuilt.error
    }
    func tagNames(
        beginningWith prefix: String, after last: String?, in hub: Hub.ID, limit: Int
    ) async throws(StorageError) -> [String] { throw NotBuilt.error }
    func tagPrefixes(in hub: Hub.ID, steps: Int) async throws(StorageError) -> TagPrefixes { throw NotBuilt.error }
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
