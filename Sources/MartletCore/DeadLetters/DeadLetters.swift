public import MartletModel

/// Lists the pushes that ended without success, and resends them once the cause is fixed.
public struct DeadLetters: Sendable {
    private let store: any NotificationStore & DeadLetterStore
    private let time: any TimeSource
    private let accepted: @Sendable ([Delivery]) -> Void

    /// - Parameter accepted: Receives the deliveries of every resend after they were stored.
    public init(
        store: any NotificationStore & DeadLetterStore, time: any TimeSource,
        accepted: @escaping @Sendable ([Delivery]) -> Void
    ) {
        self.store = store
        self.time = time
        self.accepted = accepted
    }

    /// Returns one page of the dead letters of a notification; nil if the hub has no notification with this id.
    /// - Parameter position: The position where the previous page ended.
    public func page(
        of id: NotificationID, in hub: Hub.ID, after position: RefusalPosition = .start, limit: Int
    ) async throws(StorageError) -> DeadLetterPage? {
        guard let report = try await store.report(id, in: hub) else { return nil }
        return DeadLetterPage(
            summary: DeadLetterSummary(report), resends: try await store.resends(of: id, in: hub),
            refusals: try await store.refusals(of: id, in: hub, after: position, limit: limit))
    }

    /// Returns the notifications that have dead letters, oldest first.
    /// - Parameter id: The id after which the list starts; nil to start with the oldest notification.
    public func notifications(
        in hub: Hub.ID, after id: NotificationID?, limit: Int
    ) async throws(StorageError) -> [DeadLetterSummary] {
        var summaries: [DeadLetterSummary] = []
        for id in try await store.refused(in: hub, after: id, limit: limit) {
            // A notification is left out if its record was deleted in the meantime.
            if let report = try await store.report(id, in: hub) { summaries.append(DeadLetterSummary(report)) }
        }
        return summaries
    }

    /// Returns the outcomes of those dead letters of a notification that no resend has included yet, sorted by name.
    public func outcomes(of id: NotificationID, in hub: Hub.ID) async throws(StorageError) -> [OutcomeName] {
        guard let report = try await store.report(id, in: hub) else { return [] }
        let resent = try await store.resends(of: id, in: hub).map(\.outcome)
        let all = Set(DeadLetterSummary(report).counts.values.flatMap(\.keys))
        guard !resent.contains(nil) else { return [] }
        return all.subtracting(resent.compactMap(\.self)).sorted { $0.rawValue < $1.rawValue }
    }

    /// Resends the dead letters of a notification that has ended, as a new notification to those members that are still
    /// registered and still in the audience. The resend is on disk when it is accepted.
    /// - Parameter outcome: Limits the resend to dead letters with this outcome; nil resends all that no earlier resend
    ///   has included.
    public func resend(
        _ original: NotificationID, outcome: OutcomeName? = nil, in hub: Hub.ID
    ) async throws(StorageError) -> ResendAcceptance {
        let now = time.now
        let draft = ResendDraft(
            id: NotificationID(at: now), hub: hub, original: original, outcome: outcome, acceptedAt: now,
            expiresAt: now + NotificationIntake.lifetime)
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

/// The number of dead letters of a notification.
public struct DeadLetterSummary: Sendable {
    public var id: NotificationID
    public var acceptedAt: Timestamp
    public var state: NotificationState
    /// The number of dead letters by platform and outcome, without successes.
    public var counts: [PlatformID: [OutcomeName: Int]]

    init(_ report: NotificationReport) {
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
    public var resends: [ResendRecord]
    public var refusals: RefusalPage
}
