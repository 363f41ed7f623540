public import MartletModel

/// The one way in which notifications are accepted. What it returns is on disk and will be delivered.
public struct NotificationIntake: Sendable {
    private let store: any NotificationStore
    private let check: NotificationCheck
    private let time: any TimeSource
    private let lifetime: Duration
    private let backlogLimits: @Sendable (Hub.ID) -> BacklogLimits?
    private let accepted: @Sendable ([Delivery]) -> Void
    private let scheduled: @Sendable (Timestamp) -> Void

    /// How far ahead a notification may be scheduled.
    public static let scheduleLimit: Duration = .seconds(scheduleDays * 86_400)
    private static let scheduleDays: Int64 = 366

    /// How long delivery is tried unless something else is said.
    public static let lifetime: Duration = .seconds(86_400)

    /// - Parameters:
    ///   - lifetime: How long delivery is tried where its sender says nothing, from when the notification is due.
    ///   - backlogLimits: How much of a hub may be unfinished for another one to be accepted; nil: anything.
    ///   - accepted: Told of the deliveries of every notification that begins at once, after it was stored.
    ///   - scheduled: Told when a notification is due that does not, after it was stored.
    public init(
        store: any NotificationStore, platforms: PushPlatformList, time: any TimeSource,
        lifetime: Duration = Self.lifetime,
        backlogLimits: @escaping @Sendable (Hub.ID) -> BacklogLimits? = { _ in nil },
        accepted: @escaping @Sendable ([Delivery]) -> Void,
        scheduled: @escaping @Sendable (Timestamp) -> Void = { _ in }
    ) {
        self.store = store
        check = NotificationCheck(platforms: platforms)
        self.time = time
        self.lifetime = lifetime
        self.backlogLimits = backlogLimits
        self.accepted = accepted
        self.scheduled = scheduled
    }

    /// An id for a notification whose message names it.
    public func makeID() -> NotificationID { NotificationID(at: time.now) }

    /// Takes a notification for delivery.
    /// - Parameters:
    ///   - id: One of `makeID()` that was not used before; nil for a new one.
    ///   - dueAt: When it is to go out, at most `scheduleLimit` ahead; nil or a time in the past: at once.
    ///   - expiry: When undelivered pushes are given up; nil: after the usual lifetime.
    ///   - isConfidential: Whether nobody is to be shown its content but the devices that it is for.
    ///   - rollout: How fast it goes out; nil: as fast as it can.
    ///   - request: How the request is known again when it is repeated within `RequestIdentity.lifetime`.
    /// - Returns: The id; for a request that was accepted before, that of then.
    /// - Throws: `NotificationIntakeError`; then nothing will be sent.
    public func accept(
        _ content: Notification.Content, to target: Notification.Target, in hub: Hub.ID, id: NotificationID? = nil,
        dueAt: Timestamp? = nil, expiry: Expiry? = nil, isConfidential: Bool = false,
        rollout: Rollout? = nil, request: RequestIdentity? = nil
    ) async throws(NotificationIntakeError) -> NotificationID {
        var draft = try draft(content, to: target, in: hub, id: id, dueAt: dueAt, expiry: expiry, rollout)
        draft.isConfidential = isConfidential
        draft.request = request
        draft.backlogLimits = backlogLimits(hub)
        return try await store(draft)
    }

    /// Puts another notification in the place of one that waits for its time: all of it but its id, and what is wished
    /// of it: one that was paused stays paused.
    /// - Parameter dueAt: As for `accept`.
    /// - Throws: `NotificationIntakeError`; then nothing has changed.
    public func replace(
        _ id: NotificationID, in hub: Hub.ID, with content: Notification.Content, to target: Notification.Target,
        dueAt: Timestamp, expiry: Expiry? = nil, isConfidential: Bool = false, rollout: Rollout? = nil
    ) async throws(NotificationIntakeError) -> Replacement {
        var draft = try draft(content, to: target, in: hub, id: id, dueAt: dueAt, expiry: expiry, rollout)
        draft.isConfidential = isConfidential
        // What waits is begun by the scheduler, also where that is to be at once.
        let due = draft.dueAt ?? draft.acceptedAt
        draft.dueAt = due
        let replacement: Replacement
        do throws(StorageError) {
            replacement = try await store.replace(draft)
        } catch {
            throw .storage(error)
        }
        if case .replaced = replacement { scheduled(due) }
        return replacement
    }

    private func draft(
        _ content: Notification.Content, to target: Notification.Target, in hub: Hub.ID, id: NotificationID?,
        dueAt: Timestamp?, expiry: Expiry?, _ rollout: Rollout?
    ) throws(NotificationIntakeError) -> NotificationDraft {
        let now = time.now
        let (content, target) = try check.checked(content, target, at: now)
        let due = dueAt.flatMap { $0 > now ? $0 : nil }
        let start = due ?? now
        let expiresAt = try expiry?.timestamp(from: start) ?? start + lifetime
        try Self.check(rollout, from: start, to: expiresAt, at: now)
        return NotificationDraft(
            id: id ?? NotificationID(at: now), hub: hub, content: content, target: target, acceptedAt: now,
            dueAt: due, expiresAt: expiresAt, statesExpiry: expiry != nil,
            collapse: try check.collapse(of: content, to: target, at: now), rollout: rollout)
    }

    /// Checks when a notification is to go out.
    static func check(
        _ rollout: Rollout?, from start: Timestamp, to end: Timestamp, at now: Timestamp
    ) throws(NotificationIntakeError) {
        guard start <= now + scheduleLimit else {
            throw .invalid("A notification may be scheduled for at most \(scheduleDays) days ahead.")
        }
        guard case .over(let time) = rollout?.pace, start + time > end else { return }
        throw .invalid("The roll-out would take longer than the notification lives, which expires at \(end.iso8601).")
    }

    private func store(_ draft: NotificationDraft) async throws(NotificationIntakeError) -> NotificationID {
        let acceptance: Acceptance
        do throws(StorageError) {
            acceptance = try await store.accept(draft)
        } catch {
            throw .storage(error)
        }
        switch acceptance {
        case .accepted(let notification, let deliveries):
            if let due = notification.dueAt { scheduled(due) } else { accepted(deliveries) }
            return notification.id
        case .repeated(let id):
            return id
        case .conflicting:
            throw .conflicting
        case .backlogged(let excess):
            throw .backlogged(excess)
        }
    }

    /// Withdraws a notification that waits for its time.
    public func cancel(_ id: NotificationID, in hub: Hub.ID) async throws(StorageError) -> Cancellation {
        try await store.cancel(id, in: hub, at: time.now)
    }

    /// What is known of a notification, or nil where the hub has none of this id.
    public func report(_ id: NotificationID, in hub: Hub.ID) async throws(StorageError) -> NotificationReport? {
        try await store.report(id, in: hub)
    }

    /// One page of what was refused of a notification; an empty one where the hub has none of this id.
    /// - Parameters:
    ///   - position: Where the page before ended.
    ///   - limit: The most records of the page.
    public func refusals(
        of id: NotificationID, in hub: Hub.ID, after position: RefusalPosition = .start, limit: Int = 1000
    ) async throws(StorageError) -> RefusalPage {
        try await store.refusals(of: id, in: hub, after: position, limit: limit)
    }

    /// Notifications of which something was refused, oldest first.
    /// - Parameter id: Only those after it.
    public func refused(
        in hub: Hub.ID, after id: NotificationID?, limit: Int
    ) async throws(StorageError) -> [NotificationID] {
        try await store.refused(in: hub, after: id, limit: limit)
    }
}

/// Why a notification was not accepted.
public enum NotificationIntakeError: Error, Sendable {
    /// The input is wrong; the sentence says how.
    case invalid(String)
    /// The message is larger than the push service takes; the sentence names the limit.
    case tooLarge(String)
    /// The key of the request was used for another one.
    case conflicting
    /// Too much is unfinished.
    case backlogged(BacklogExcess)
    case storage(StorageError)
}
