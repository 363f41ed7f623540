public import MartletModel

/// Accepts notifications from senders. An accepted notification is on disk and will be delivered.
public struct NotificationIntake: Sendable {
    private let store: any NotificationStore
    private let check: NotificationCheck
    private let time: any TimeSource
    private let lifetime: Duration
    private let backlogLimits: @Sendable (Hub.ID) -> BacklogLimits?
    private let accepted: @Sendable ([Delivery]) -> Void
    private let scheduled: @Sendable (Timestamp) -> Void

    /// The maximum time from now to the due time of a scheduled notification.
    public static let scheduleLimit: Duration = .seconds(scheduleDays * 86_400)
    private static let scheduleDays: Int64 = 366

    /// The default lifetime of notifications whose sender states no expiry: how long delivery is tried.
    public static let lifetime: Duration = .seconds(86_400)

    /// - Parameters:
    ///   - lifetime: How long delivery is tried after the notification is due, if the sender states no expiry.
    ///   - backlogLimits: The backlog limits of a hub; nil for no limit.
    ///   - accepted: Called with the deliveries of every notification that begins at once, after the notification was
    ///     stored.
    ///   - scheduled: Called with the due time of every other notification, after the notification was stored.
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

    /// Creates an id in advance, for a notification whose message must contain it.
    public func makeID() -> NotificationID { NotificationID(at: time.now) }

    /// Accepts a notification.
    /// - Parameters:
    ///   - id: An unused id from `makeID()`; nil for a new one.
    ///   - dueAt: When sending begins, at most `scheduleLimit` ahead; nil, or a time in the past, to begin at once.
    ///   - expiry: When undelivered pushes are given up; nil for the default lifetime.
    ///   - isConfidential: Whether the content is shown only on its target devices.
    ///   - rollout: The roll-out; nil to send as fast as possible.
    ///   - request: Identifies the request if it is repeated within `RequestIdentity.lifetime`.
    ///   - author: The author, who asks for the notification; nil if the author is not recorded.
    /// - Returns: The id of the notification; for a repeated request, the id of the notification that was accepted
    ///   first.
    /// - Throws: `NotificationIntakeError`; then nothing will be sent.
    public func accept(
        _ content: Notification.Content, to target: Notification.Target, in hub: Hub.ID, id: NotificationID? = nil,
        dueAt: Timestamp? = nil, expiry: Expiry? = nil, isConfidential: Bool = false,
        rollout: Rollout? = nil, request: RequestIdentity? = nil, author: SendAuthor? = nil
    ) async throws(NotificationIntakeError) -> NotificationID {
        var draft: NotificationDraft
        do throws(NotificationIntakeError) {
            draft = try self.draft(content, to: target, in: hub, id: id, dueAt: dueAt, expiry: expiry, rollout)
            try await checkSizes(of: draft)
        } catch {
            // A request that was accepted may fail these checks when it is repeated: its expiry has passed, or a
            // platform with a smaller limit has got its first device. A request that passes these checks is looked up
            // by the store when it is stored.
            guard let request, let earlier = try await earlier(request, in: hub) else { throw error }
            return earlier
        }
        draft.isConfidential = isConfidential
        draft.request = request
        draft.author = author
        draft.backlogLimits = backlogLimits(hub)
        return try await store(draft)
    }

    /// Replaces a scheduled notification. Only its id and its control stay: a paused notification stays paused.
    /// - Parameters:
    ///   - dueAt: As for `accept`.
    ///   - author: Who asks for the replacement. This author replaces the former one; nil if not recorded.
    /// - Throws: `NotificationIntakeError`; then nothing has changed.
    public func replace(
        _ id: NotificationID, in hub: Hub.ID, with content: Notification.Content, to target: Notification.Target,
        dueAt: Timestamp, expiry: Expiry? = nil, isConfidential: Bool = false, rollout: Rollout? = nil,
        author: SendAuthor? = nil
    ) async throws(NotificationIntakeError) -> Replacement {
        var draft = try draft(content, to: target, in: hub, id: id, dueAt: dueAt, expiry: expiry, rollout)
        try await checkSizes(of: draft)
        draft.isConfidential = isConfidential
        draft.author = author
        // The draft gets a due time even if it is due at once, because the scheduler begins every notification that was
        // replaced.
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
        let id = id ?? NotificationID(at: now)
        var draft = NotificationDraft(
            id: id, hub: hub, content: content, target: target, acceptedAt: now,
            dueAt: due, expiresAt: expiresAt, statesExpiry: expiry != nil,
            collapse: try check.collapse(of: content, to: target, id: id, at: now), rollout: rollout)
        if rollout?.sample != nil {
            draft.laterParts = [WaitingPart(number: 1, side: .rest, expiresAt: expiresAt)]
        }
        return draft
    }

    /// Checks that a composed message is within the payload limit of every platform that the hub has devices for, by
    /// rendering it. The rendering does not run on the event loop of the request, because there may be forty languages.
    private func checkSizes(of draft: NotificationDraft) async throws(NotificationIntakeError) {
        guard case .message(let content) = draft.content else { return }
        let platforms: [PlatformID]
        do throws(StorageError) {
            platforms = try await store.nativePlatforms(in: draft.hub)
        } catch {
            throw .storage(error)
        }
        let check = check
        let result = await Task.detached { () -> Result<Void, NotificationIntakeError> in
            Result { () throws(NotificationIntakeError) in
                try check.checkSizes(of: content, on: platforms, id: draft.id, at: draft.acceptedAt)
            }
        }.value
        try result.get()
    }

    /// Checks that a notification is not scheduled too far ahead, and that it does not expire before the wait of its
    /// canary and its roll-out are over.
    static func check(
        _ rollout: Rollout?, from start: Timestamp, to end: Timestamp, at now: Timestamp
    ) throws(NotificationIntakeError) {
        guard start <= now + scheduleLimit else {
            throw .invalid("A notification may be scheduled for at most \(scheduleDays) days ahead.")
        }
        if let wait = rollout?.wait, start + wait >= end {
            throw .invalid(
                "The canary would wait until the notification has expired, at \(end.iso8601): say wait= with a shorter "
                    + "time.")
        }
        guard case .over(let time) = rollout?.pace, start + time + (rollout?.wait ?? .zero) > end else { return }
        throw .invalid("The roll-out would take longer than the notification lives, which expires at \(end.iso8601).")
    }

    /// Returns the notification that was accepted for an earlier attempt of a request; nil if there is none.
    /// - Throws: `.conflicting` if the key was used for a different request, among other errors.
    public func earlier(
        _ request: RequestIdentity, in hub: Hub.ID
    ) async throws(NotificationIntakeError) -> NotificationID? {
        let acceptance: Acceptance?
        do throws(StorageError) {
            acceptance = try await store.earlier(request, in: hub, at: time.now)
        } catch {
            throw .storage(error)
        }
        return try acceptance.map { acceptance throws(NotificationIntakeError) in try id(from: acceptance) }
    }

    private func store(_ draft: NotificationDraft) async throws(NotificationIntakeError) -> NotificationID {
        let acceptance: Acceptance
        do throws(StorageError) {
            acceptance = try await store.accept(draft)
        } catch {
            throw .storage(error)
        }
        return try id(from: acceptance)
    }

    /// Returns the id of the notification that was accepted now or earlier, and tells of deliveries that begin.
    private func id(from acceptance: Acceptance) throws(NotificationIntakeError) -> NotificationID {
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

    /// Returns the scheduled notifications that a query selects, in the order of their due times.
    public func scheduled(_ query: ScheduleQuery) async throws(StorageError) -> [ScheduledNotification] {
        try await store.scheduled(query)
    }

    /// Cancels a scheduled notification that has not begun. `SendControls` can also cancel one that has begun.
    public func cancel(_ id: NotificationID, in hub: Hub.ID) async throws(StorageError) -> Cancellation {
        try await store.cancel(id, in: hub, at: time.now)
    }

    /// Returns the report of a notification; nil if the hub has no notification with this id.
    public func report(_ id: NotificationID, in hub: Hub.ID) async throws(StorageError) -> NotificationReport? {
        try await store.report(id, in: hub)
    }

    /// Returns one page of the refusals of a notification; empty if the hub has no notification with this id.
    /// - Parameters:
    ///   - position: Where the previous page ended.
    ///   - limit: The maximum number of records in the page.
    public func refusals(
        of id: NotificationID, in hub: Hub.ID, after position: RefusalPosition = .start, limit: Int = 1000
    ) async throws(StorageError) -> RefusalPage {
        try await store.refusals(of: id, in: hub, after: position, limit: limit)
    }

    /// Returns the ids of notifications with refusals, oldest first.
    /// - Parameter id: The id after which the list starts; nil to start with the oldest notification.
    public func refused(
        in hub: Hub.ID, after id: NotificationID?, limit: Int
    ) async throws(StorageError) -> [NotificationID] {
        try await store.refused(in: hub, after: id, limit: limit)
    }
}

/// Why a notification was not accepted.
public enum NotificationIntakeError: Error, Sendable {
    /// The input is wrong; the text explains how.
    case invalid(String)
    /// The content is too large for a push service or for the server; the text states the limit.
    case tooLarge(String)
    /// The idempotency key of the request was used before, for a different request.
    case conflicting
    /// The backlog is full.
    case backlogged(BacklogExcess)
    case storage(StorageError)
}
