public import MartletModel

/// Lists the pushes that ended without success, and resends them once the cause is fixed.
public struct DeadLetters: Sendable {
    private let store: any NotificationStore & DeadLetterStore
    private let time: any TimeSource
    private let accepted: @Sendable ([Delivery]) -> Void

    /// - Parameter accepted: Called with the deliveries of every resend once they are stored.
    public init(
        store: any NotificationStore & DeadLetterStore, time: any TimeSource,
        accepted: @escaping @Sendable ([Delivery]) -> Void
    ) {
        self.store = store
        self.time = time
        self.accepted = accepted
    }

    /// Returns one page of the dead letters of a notification; nil if the hub has no notification with this id.
    /// - Parameters:
    ///   - outcome: The outcome of the dead letters to return; nil for all. With an outcome, a page may be shorter than
    ///     `limit`, or empty, although another page follows.
    ///   - position: The position where the previous page ended.
    public func page(
        of id: NotificationID, in hub: Hub.ID, outcome: OutcomeName? = nil, after position: RefusalPosition = .start,
        limit: Int
    ) async throws(StorageError) -> DeadLetterPage? {
        guard let report = try await store.report(id, in: hub) else { return nil }
        var page = RefusalPage(records: [], next: position)
        for _ in 0..<Self.lookLimits.pages {
            guard let next = page.next, page.records.count < limit else { break }
            let found = try await store.refusals(of: id, in: hub, after: next, limit: limit - page.records.count)
            page.records += outcome.map { name in found.records.filter { $0.outcome == name } } ?? found.records
            page.next = found.next
            if outcome == nil { break }
        }
        return DeadLetterPage(
            summary: DeadLetterSummary(report, try await store.resends(of: id, in: hub)), refusals: page)
    }

    /// Returns the notifications that have dead letters, oldest first.
    /// - Parameter id: The id after which the list starts; nil to start with the oldest notification.
    public func notifications(
        in hub: Hub.ID, after id: NotificationID?, limit: Int
    ) async throws(StorageError) -> [DeadLetterSummary] {
        var summaries: [DeadLetterSummary] = []
        for id in try await store.refused(in: hub, after: id, limit: limit) {
            // A notification is left out if its record was deleted in the meantime.
            guard let report = try await store.report(id, in: hub) else { continue }
            summaries.append(DeadLetterSummary(report, try await store.resends(of: id, in: hub)))
        }
        return summaries
    }

    /// How many notifications, and how many pages of dead letters, one call reads at most while it looks for an
    /// outcome.
    private static let lookLimits = (notifications: 500, pages: 20)

    /// Returns notifications that have dead letters, newest first. One call reads a bounded number of notifications.
    /// - Parameters:
    ///   - outcome: The outcome that at least one dead letter of each notification must have; nil for any outcome.
    ///   - id: The id before which the list starts; nil to start with the newest notification.
    ///   - limit: The maximum number of notifications.
    /// - Returns: The notifications, and the id to pass for the next page; nil if there are no more.
    public func latest(
        in hub: Hub.ID, outcome: OutcomeName? = nil, before id: NotificationID?, limit: Int
    ) async throws(StorageError) -> (summaries: [DeadLetterSummary], next: NotificationID?) {
        var summaries: [DeadLetterSummary] = []
        var last = id
        var looked = 0
        while looked < Self.lookLimits.notifications {
            let ids = try await store.latestRefused(in: hub, before: last, limit: limit)
            for id in ids {
                looked += 1
                last = id
                guard let report = try await store.report(id, in: hub) else { continue }
                var summary = DeadLetterSummary(report)
                guard outcome.map({ name in summary.counts.values.contains { $0[name] != nil } }) ?? true else {
                    continue
                }
                summary.resends = try await store.resends(of: id, in: hub)
                summaries.append(summary)
                if summaries.count == limit { return (summaries, last) }
            }
            guard ids.count == limit else { return (summaries, nil) }
        }
        return (summaries, last)
    }

    /// Counts the dead letters of a notification by outcome and reason, the most frequent first.
    /// - Parameters:
    ///   - lookLimit: The maximum number of dead letters that are counted.
    ///   - limit: The maximum number of reasons.
    /// - Returns: nil if the hub has no notification with this id.
    public func reasons(
        of id: NotificationID, in hub: Hub.ID, lookLimit: Int = 20_000, limit: Int = 100
    ) async throws(StorageError) -> RefusalReasons? {
        guard try await store.report(id, in: hub) != nil else { return nil }
        return try await store.refusalReasons(of: id, in: hub, lookLimit: lookLimit, limit: limit)
    }

    /// Returns the outcomes of the dead letters that no resend of the notification has included yet, sorted by name.
    public func outcomes(of id: NotificationID, in hub: Hub.ID) async throws(StorageError) -> [OutcomeName] {
        guard let report = try await store.report(id, in: hub) else { return [] }
        let resent = try await store.resends(of: id, in: hub).map(\.outcome)
        let all = Set(DeadLetterSummary(report).counts.values.flatMap(\.keys))
        guard !resent.contains(nil) else { return [] }
        return all.subtracting(resent.compactMap(\.self)).sorted { $0.rawValue < $1.rawValue }
    }

    /// Resends the dead letters of a notification that has ended, as a new notification to those members that are still
    /// registered and still in the audience. The resend is on disk when it is accepted.
    /// - Parameters:
    ///   - outcome: Limits the resend to dead letters with this outcome; nil resends all that no earlier resend has
    ///     included.
    ///   - author: Who asks for the resend; nil if not recorded.
    public func resend(
        _ original: NotificationID, outcome: OutcomeName? = nil, in hub: Hub.ID, by author: SendAuthor? = nil
    ) async throws(StorageError) -> ResendAcceptance {
        let now = time.now
        let draft = ResendDraft(
            id: NotificationID(at: now), hub: hub, original: original, outcome: outcome, acceptedAt: now,
            expiresAt: now + NotificationIntake.lifetime, author: author)
        guard try await !areGone(draft) else { return .gone }
        let acceptance = try await store.resend(draft)
        if case .accepted(_, let deliveries) = acceptance { accepted(deliveries) }
        return acceptance
    }

    /// The maximum number of dead letters of each platform that are checked before a resend.
    private static let glance = 1000

    /// Returns whether there are dead letters to resend, but none of their devices is registered any more. If a
    /// platform has more than `glance` dead letters, returns false; missing devices are then discovered while the
    /// resend is sent.
    private func areGone(_ draft: ResendDraft) async throws(StorageError) -> Bool {
        guard let report = try await store.report(draft.original, in: draft.hub), report.state.isFinal else {
            return false
        }
        let earlier = try await store.resends(of: draft.original, in: draft.hub)
        guard !earlier.contains(where: { $0.outcome == nil || $0.outcome == draft.outcome }) else { return false }
        let original = report.notification
        let resend = Notification(
            sequence: .max,
            NotificationDraft(
                id: draft.id, hub: draft.hub, content: original.content, target: original.target,
                acceptedAt: draft.acceptedAt, expiresAt: draft.expiresAt,
                resend: Resend(original: original.sequence, outcome: draft.outcome)))
        var hasDeadLetters = false
        for platform in report.platforms {
            let page = try await store.resendMembers(
                of: Delivery(id: .none, notification: resend, platform: platform, bounds: .none), after: .none,
                limit: Self.glance)
            guard page.members.isEmpty, page.isLast else { return false }
            hasDeadLetters = hasDeadLetters || page.last != .none
        }
        return hasDeadLetters
    }
}

/// A notification, with the number of its dead letters by platform and outcome.
public struct DeadLetterSummary: Sendable {
    public var id: NotificationID
    public var acceptedAt: Timestamp
    public var state: NotificationState
    /// The number of dead letters by platform and outcome. Only outcomes that are failures are counted.
    public var counts: [PlatformID: [OutcomeName: Int]]
    /// The resends of these dead letters, oldest first.
    public var resends: [ResendRecord]

    init(_ report: NotificationReport, _ resends: [ResendRecord] = []) {
        self.resends = resends
        id = report.notification.id
        acceptedAt = report.notification.acceptedAt
        state = report.state
        counts = report.counts.mapValues { $0.filter { $0.key.isFailure && $0.key != .superseded && $0.value > 0 } }
            .filter { !$0.value.isEmpty }
    }
}

/// One page of the dead letters of a notification.
public struct DeadLetterPage: Sendable {
    public var summary: DeadLetterSummary
    public var refusals: RefusalPage
}
