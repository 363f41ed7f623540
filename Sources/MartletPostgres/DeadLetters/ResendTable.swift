import MartletCore
import MartletModel

/// Stores resends, and reads the dead letters that they send again.
///
/// A resend names its original notification and, if it sends only some of the dead letters again, the outcome of these
/// dead letters. The dead letters are read page by page from the refusals of the original. The refusals do not change
/// once the original has finished.
struct ResendTable {
    private let session: ShardSession
    private let cache: NumberCache

    init(_ session: ShardSession, _ cache: NumberCache) {
        self.session = session
        self.cache = cache
    }

    // MARK: Accepting

    func accept(_ draft: ResendDraft) throws(StorageError) -> ResendAcceptance {
        let notifications = NotificationTable(session, cache)
        guard let original = try notifications.find(draft.original) else { return .notFound }
        guard original.finishedAt != nil else { return .underWay }
        let notification = original.notification
        let earlier = try resends(of: draft.original).first { $0.outcome == nil || $0.outcome == draft.outcome }
        if let earlier { return .resent(earlier.id) }
        let resend = Resend(
            original: notification.sequence, outcome: draft.outcome, rank: try rank(of: notification))
        guard try hasDeadLetters(resend, before: .max) else { return .nothing }
        var new = NotificationDraft(
            id: draft.id, hub: draft.hub, content: notification.content, target: notification.target,
            acceptedAt: draft.acceptedAt, expiresAt: draft.expiresAt, collapse: notification.collapse,
            isConfidential: notification.isConfidential, resend: resend)
        new.author = draft.author
        guard case .accepted(let accepted, let deliveries) = try notifications.accept(new, backlogOfAll: nil) else {
            return .nothing
        }
        return .accepted(accepted, deliveries)
    }

    /// Returns the rank of a resend; nil if the original has no collapse key. The rank is the delivery whose age counts
    /// as the age of the resend when deliveries with the same collapse key are compared. If the original is itself a
    /// resend, the result is the rank of the original.
    ///
    /// Otherwise the original's first delivery on each platform counts, and the rank is the newest of these deliveries.
    /// Only they have rows in the table `collapses`. With an older rank, the newest of them would supersede the resend.
    private func rank(of original: Notification) throws(StorageError) -> Delivery.ID? {
        guard original.collapse != nil else { return nil }
        if let rank = original.resend?.rank { return rank }
        return try session.first(
            """
            SELECT id FROM deliveries WHERE shard = $1 AND notification = $2 AND lead IS NULL ORDER BY id DESC LIMIT 1
            """, original.sequence
        ) { Delivery.ID(rawValue: $0.integer(0)) }
    }

    private func hasDeadLetters(_ resend: Resend, before sequence: Int64) throws(StorageError) -> Bool {
        let isMeant = try isMeant(resend, before: sequence)
        for (delivery, _) in try DeliveryTable(session).deliveries(of: resend.original) {
            var reader = RefusalReader(FailedPushTable(session), of: delivery, after: .none)
            if try reader.next(where: isMeant) != nil { return true }
        }
        return false
    }

    /// Returns a closure that decides by the outcome of a refusal whether a resend sends the refused push again. If the
    /// resend has an outcome, the refusal must have the same one. If an earlier resend of the same original was for a
    /// single outcome, refusals with that outcome are left out.
    /// - Parameter sequence: The sequence number of the resend's notification. Resends with lower numbers are earlier.
    private func isMeant(
        _ resend: Resend, before sequence: Int64
    ) throws(StorageError) -> (OutcomeName) -> Bool {
        let taken = Set(
            try session.all(
                """
                SELECT original_outcome FROM notifications
                WHERE shard = $1 AND original = $2 AND sequence < $3 AND original_outcome IS NOT NULL
                """, resend.original, sequence
            ) { OutcomeName(rawValue: $0.text(0)) })
        return { outcome in (resend.outcome == nil || resend.outcome == outcome) && !taken.contains(outcome) }
    }

    // MARK: Reading

    func resends(of id: NotificationID) throws(StorageError) -> [ResendRecord] {
        try session.all(
            """
            SELECT r.id, r.original_outcome
            FROM notifications n JOIN notifications r ON r.shard = $1 AND r.original = n.sequence
            WHERE n.shard = $1 AND n.id = $2 ORDER BY r.sequence
            """, id.bytes
        ) { row throws(StorageError) in
            var columns = ColumnReader(row)
            return ResendRecord(
                id: try columns.notificationID(), outcome: columns.optionalText().map { OutcomeName(rawValue: $0) })
        }
    }

    func members(
        of delivery: Delivery, after last: AudienceMember, limit: Int
    ) throws(StorageError) -> ResendPage {
        guard let resend = delivery.notification.resend else {
            return ResendPage(members: [], last: last, isLast: true)
        }
        let isMeant = try isMeant(resend, before: delivery.notification.sequence)
        let originals = try DeliveryTable(session).deliveries(of: resend.original)
            .filter { $0.platform == delivery.platform }
        // Reads the first `limit` dead letters of each delivery. If there are several deliveries, the code below keeps
        // only the first `limit` of all these dead letters.
        var refused: [RecordedRefusal] = []
        for original in originals {
            var reader = RefusalReader(FailedPushTable(session), of: original.id, after: last)
            var count = 0
            while count < limit, let refusal = try reader.next(where: isMeant) {
                refused.append(refusal)
                count += 1
            }
        }
        if originals.count > 1 {
            refused.sort { $0.refusal.member < $1.refusal.member }
            refused = Array(refused.prefix(limit))
        }
        return ResendPage(
            members: try membersNow(refused, in: delivery), last: refused.last?.refusal.member ?? last,
            isLast: refused.count < limit)
    }

    /// Returns the members to which a resend sends: the registrations of the dead letters, at their current channels.
    /// Registrations that no longer exist are left out. A registration is found by its sequence number for a template
    /// send, and by its id for a native send. Neither of them is ever used again.
    private func membersNow(
        _ refused: [RecordedRefusal], in delivery: Delivery
    ) throws(StorageError) -> [AudienceMember] {
        let notification = delivery.notification
        if case .direct = notification.target { return refused.map(\.refusal.member) }
        if delivery.isOfTemplateContent {
            let numbers = refused.map(\.refusal.member.registration)
            let found = try session.all(
                """
                SELECT sequence, channel FROM registrations
                WHERE shard = $1 AND sequence = ANY($2) AND template IS NOT NULL
                """, numbers
            ) { ($0.integer(0), ChannelID(rawValue: $0.integer(1))) }
            let channels = Dictionary(uniqueKeysWithValues: found)
            return numbers.compactMap { number in
                channels[number].map { AudienceMember(channel: $0, registration: number) }
            }
        }
        let ids = refused.compactMap(\.registration)
        let found = try session.all(
            "SELECT id, channel FROM registrations WHERE shard = $1 AND id = ANY($2) AND template IS NULL",
            ids.map { StoredForm.id($0) }
        ) { (StoredForm.id($0.bytes(0)), ChannelID(rawValue: $0.integer(1))) }
        let channels = Dictionary(uniqueKeysWithValues: found)
        return ids.compactMap { id in channels[id].map { AudienceMember(channel: $0) } }
    }
}

extension Delivery {
    fileprivate var isOfTemplateContent: Bool {
        if case .template = notification.content { true } else { false }
    }
}
