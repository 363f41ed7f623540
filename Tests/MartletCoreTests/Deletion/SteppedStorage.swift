import MartletModel

@testable import MartletCore

/// A storage of which every call is a step.
struct SteppedStorage: NotificationStore, ControlStore, DeadLetterStore, LaneStore, DeviceStore, JobStore {
    typealias Store = NotificationStore & ControlStore & DeadLetterStore & LaneStore & DeviceStore & JobStore

    let store: any Store
    let steps: Steps

    func accept(_ draft: NotificationDraft) async throws(StorageError) -> Acceptance {
        await steps.next()
        return try await store.accept(draft)
    }

    func release(due now: Timestamp, limit: Int) async throws(StorageError) -> ReleasedNotifications {
        await steps.next()
        return try await store.release(due: now, limit: limit)
    }

    func nextDue() async throws(StorageError) -> Timestamp? {
        await steps.next()
        return try await store.nextDue()
    }

    func cancel(_ id: NotificationID, in hub: Hub.ID, at now: Timestamp) async throws(StorageError) -> Cancellation {
        await steps.next()
        return try await store.cancel(id, in: hub, at: now)
    }

    func replace(_ draft: NotificationDraft) async throws(StorageError) -> Replacement {
        await steps.next()
        return try await store.replace(draft)
    }

    func unfinished(after id: Delivery.ID, limit: Int) async throws(StorageError) -> [DeliveryProgress] {
        await steps.next()
        return try await store.unfinished(after: id, limit: limit)
    }

    func record(_ step: DeliveryStep) async throws(StorageError) -> Bool {
        await steps.next()
        return try await store.record(step)
    }

    func retries(of delivery: Delivery.ID, due now: Timestamp, limit: Int) async throws(StorageError) -> [Retry] {
        await steps.next()
        return try await store.retries(of: delivery, due: now, limit: limit)
    }

    func successors(of members: [AudienceMember], in delivery: Delivery) async throws(StorageError) -> [Successor] {
        await steps.next()
        return try await store.successors(of: members, in: delivery)
    }

    func nextRetry(of delivery: Delivery.ID) async throws(StorageError) -> Timestamp? {
        await steps.next()
        return try await store.nextRetry(of: delivery)
    }

    func hastenRetries(beyond moment: Timestamp, by amount: Duration) async throws(StorageError) {
        await steps.next()
        try await store.hastenRetries(beyond: moment, by: amount)
    }

    func report(_ id: NotificationID, in hub: Hub.ID) async throws(StorageError) -> NotificationReport? {
        await steps.next()
        return try await store.report(id, in: hub)
    }

    func refusals(
        of id: NotificationID, in hub: Hub.ID, after position: RefusalPosition, limit: Int
    ) async throws(StorageError) -> RefusalPage {
        await steps.next()
        return try await store.refusals(of: id, in: hub, after: position, limit: limit)
    }

    func refused(in hub: Hub.ID, after id: NotificationID?, limit: Int) async throws(StorageError) -> [NotificationID] {
        await steps.next()
        return try await store.refused(in: hub, after: id, limit: limit)
    }

    func control(
        _ wish: ControlWish, _ id: NotificationID, in hub: Hub.ID, at now: Timestamp
    ) async throws(StorageError) -> ControlChange {
        await steps.next()
        return try await store.control(wish, id, in: hub, at: now)
    }

    func controlled() async throws(StorageError) -> [ControlledNotification] {
        await steps.next()
        return try await store.controlled()
    }

    func hasEnded(_ sequence: Int64) async throws(StorageError) -> Bool {
        await steps.next()
        return try await store.hasEnded(sequence)
    }

    func setAudience(_ count: Int, ofRollout sequence: Int64) async throws(StorageError) -> Int? {
        await steps.next()
        return try await store.setAudience(count, ofRollout: sequence)
    }

    func record(ofRollout sequence: Int64) async throws(StorageError) -> RolloutRecord? {
        await steps.next()
        return try await store.record(ofRollout: sequence)
    }

    func standing(_ id: NotificationID, in hub: Hub.ID) async throws(StorageError) -> SendStanding? {
        await steps.next()
        return try await store.standing(id, in: hub)
    }

    func resend(_ draft: ResendDraft) async throws(StorageError) -> ResendAcceptance {
        await steps.next()
        return try await store.resend(draft)
    }

    func resends(of id: NotificationID, in hub: Hub.ID) async throws(StorageError) -> [ResendRecord] {
        await steps.next()
        return try await store.resends(of: id, in: hub)
    }

    func resendMembers(
        of delivery: Delivery, after last: AudienceMember, limit: Int
    ) async throws(StorageError) -> ResendPage {
        await steps.next()
        return try await store.resendMembers(of: delivery, after: last, limit: limit)
    }

    func laneMemories(at now: Timestamp) async throws(StorageError) -> [LaneMemory] {
        await steps.next()
        return try await store.laneMemories(at: now)
    }

    func forgetPauses(of hub: Hub.ID) async throws(StorageError) {
        await steps.next()
        try await store.forgetPauses(of: hub)
    }

    func superseded(_ query: CollapseQuery) async throws(StorageError) -> Superseded {
        await steps.next()
        return try await store.superseded(query)
    }

    func apply(
        _ changes: [RegistrationChange], in hub: Hub.ID, at now: Timestamp
    ) async throws(StorageError) -> [Result<Registration, RegistrationRefusal>] {
        await steps.next()
        return try await store.apply(changes, in: hub, at: now)
    }

    func registration(_ id: String, in hub: Hub.ID, at now: Timestamp) async throws(StorageError) -> Registration? {
        await steps.next()
        return try await store.registration(id, in: hub, at: now)
    }

    func registrations(_ query: RegistrationQuery) async throws(StorageError) -> RegistrationPage {
        await steps.next()
        return try await store.registrations(query)
    }

    func audience(_ query: AudienceQuery) async throws(StorageError) -> AudiencePage {
        await steps.next()
        return try await store.audience(query)
    }

    func audienceCount(_ query: AudienceCountQuery) async throws(StorageError) -> AudienceCount {
        await steps.next()
        return try await store.audienceCount(query)
    }

    func renderings(_ ids: [Rendering.ID], in hub: Hub.ID) async throws(StorageError) -> [Rendering] {
        await steps.next()
        return try await store.renderings(ids, in: hub)
    }

    func tags(beginningWith prefix: String, of query: AudienceQuery) async throws(StorageError) -> TagPage {
        await steps.next()
        return try await store.tags(beginningWith: prefix, of: query)
    }

    func apply(_ feedback: [ChannelFeedback], in hub: Hub.ID, at now: Timestamp) async throws(StorageError) -> Int {
        await steps.next()
        return try await store.apply(feedback, in: hub, at: now)
    }

    func suspects(of platform: PlatformID, in hub: Hub.ID, limit: Int) async throws(StorageError) -> [ChannelID] {
        await steps.next()
        return try await store.suspects(of: platform, in: hub, limit: limit)
    }

    func createJob(_ job: Job) async throws(StorageError) {
        await steps.next()
        try await store.createJob(job)
    }

    func job(_ id: String, in hub: Hub.ID) async throws(StorageError) -> Job? {
        await steps.next()
        return try await store.job(id, in: hub)
    }

    func jobs(in hub: Hub.ID, limit: Int) async throws(StorageError) -> [Job] {
        await steps.next()
        return try await store.jobs(in: hub, limit: limit)
    }

    func unfinishedJobs() async throws(StorageError) -> [JobProgress] {
        await steps.next()
        return try await store.unfinishedJobs()
    }

    func record(_ progress: JobProgress) async throws(StorageError) -> Bool {
        await steps.next()
        return try await store.record(progress)
    }

    func apply(
        _ changes: [RegistrationChange], of job: String, in hub: Hub.ID, at now: Timestamp,
        _ progress: @escaping @Sendable ([Result<Registration, RegistrationRefusal>]) -> JobProgress
    ) async throws(StorageError) -> JobProgress? {
        await steps.next()
        return try await store.apply(changes, of: job, in: hub, at: now, progress)
    }

    func registrationCount(in hub: Hub.ID) async throws(StorageError) -> Int64 {
        await steps.next()
        return try await store.registrationCount(in: hub)
    }

    func apply(
        _ change: InstallationChange, in hub: Hub.ID, at now: Timestamp
    ) async throws(StorageError) -> Result<InstallationRecord, RegistrationRefusal> {
        await steps.next()
        return try await store.apply(change, in: hub, at: now)
    }

    func installation(_ id: String, in hub: Hub.ID, at now: Timestamp) async throws(StorageError) -> InstallationRecord?
    {
        await steps.next()
        return try await store.installation(id, in: hub, at: now)
    }
}
