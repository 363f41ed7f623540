import MartletCore
import MartletModel

/// Stores resends, and reads the dead letters that they send again, on one connection.
///
/// A resend names its original notification and, if it sends only some of the dead letters again, the outcome of these
/// dead letters. The dead letters are read page by page from the refusals of the original. The refusals do not change
/// once the original has finished, and are kept while a resend of them is unfinished.
struct ResendTable {
    private let connection: Connection

    init(_ connection: Connection) {
        self.connection = connection
    }

    // MARK: Accepting

    func accept(_ draft: ResendDraft) throws(StorageError) -> ResendAcceptance {
        let notifications = NotificationTable(connection)
        guard let original = try notifications.find(draft.original, in: draft.hub) else { return .notFound }
        guard original.finishedAt != nil else { return .underWay }
        let resends = try resends(of: draft.original, in: draft.hub)
        if let earlier = resends.first(where: { $0.outcome == nil || $0.outcome == draft.outcome }) {
            return .resent(earlier.id)
        }
        let resend = Resend(
            original: original.notification.sequence, outcome: draft.outcome, rank: try rank(of: original.notification))
        guard try hasDeadLetters(resend, before: .max) else { return .nothing }
        var new = NotificationDraft(
            id: draft.id, hub: draft.hub, content: original.notification.content, target: original.notification.target,
            acceptedAt: draft.acceptedAt, expiresAt: draft.expiresAt, collapse: original.notification.collapse,
            isConfidential: original.notification.isConfidential, resend: resend)
        new.author = draft.author
        guard case .accepted(let notification, let deliveries) = try notifications.accept(new) else { return .nothing }
        return .accepted(notification, deliveries)
    }

    /// Returns the rank of a resend; nil if the original has no collapse key. The rank is the delivery whose age counts
    /// as the age of the resend when deliveries with the same collapse key are compared. If the original is itself a
    /// resend, the result is the rank of the original.
    ///
    /// Otherwise the rank is the newest of the original's first deliveries on each platform. Only these deliveries have
    /// rows in the table `collapses`. With an older rank, the newest of these deliveries would supersede the resend.
    private func rank(of original: Notification) throws(StorageError) -> Delivery.ID? {
        guard original.collapse != nil else { return nil }
        if let rank = original.resend?.rank { return rank }
        return try connection.first(
            "SELECT max(id) FROM deliveries WHERE notification = ? AND lead IS NULL", original.sequence
        ) { row in
            Delivery.ID(rawValue: row.integer(0))
        }
    }

    private func hasDeadLetters(_ resend: Resend, before sequence: Int64) throws(StorageError) -> Bool {
        let deliveries = try connection.all(
            "SELECT id FROM deliveries WHERE notification = ? ORDER BY id", resend.original
        ) { Delivery.ID(rawValue: $0.integer(0)) }
        let isMeant = try isMeant(resend, before: sequence)
        for delivery in deliveries {
            var reader = RefusalReader(FailedPushTable(connection), of: delivery, after: .none)
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
            try connection.all(
                """
                SELECT original_outcome FROM notifications
                WHERE original = ? AND sequence < ? AND original_outcome IS NOT NULL
                """, resend.original, sequence
            ) { OutcomeName(rawValue: $0.text(0)) })
        return { outcome in (resend.outcome == nil || resend.outcome == outcome) && !taken.contains(outcome) }
    }

    // MARK: Reading

    func resends(of id: NotificationID, in hub: Hub.ID) throws(StorageError) -> [ResendRecord] {
        try connection.all(
            """
            SELECT id, original_outcome FROM notifications
            WHERE original = (SELECT sequence FROM notifications WHERE hub = ? AND id = ?) ORDER BY sequence
            """, hub.rawValue, id.bytes
        ) { row throws(StorageError) in
            guard let id = NotificationID(bytes: row.bytes(0)) else {
                throw StorageError(.corrupt, "A stored notification cannot be read; restore a backup.")
            }
            return ResendRecord(id: id, outcome: row.optionalText(1).map { OutcomeName(rawValue: $0) })
        }
    }

    func members(
        of delivery: Delivery, after last: AudienceMember, limit: Int
    ) throws(StorageError) -> ResendPage {
        guard let resend = delivery.notification.resend else {
            return ResendPage(members: [], last: last, isLast: true)
        }
        let originals = try connection.all(
            "SELECT id FROM deliveries WHERE notification = ? AND platform = ?", resend.original,
            delivery.platform.rawValue
        ) { Delivery.ID(rawValue: $0.integer(0)) }
        // Reads the first `limit` dead letters of each delivery. If there are several deliveries, the code below keeps
        // only the first `limit` of all these dead letters.
        var letters: [(member: AudienceMember, now: AudienceMember?)] = []
        for original in originals {
            letters += try self.letters(of: original, resend, in: delivery, after: last, limit: limit)
        }
        if originals.count > 1 {
            letters.sort { $0.member < $1.member }
            letters = Array(letters.prefix(limit))
        }
        return ResendPage(
            members: letters.compactMap(\.now), last: letters.last?.member ?? last, isLast: letters.count < limit)
    }

    /// Returns the next dead letters of one delivery of the original. `member` is the member to which the original was
    /// sent. `now` is the member to which the resend sends the dead letter; nil if the registration no longer exists.
    private func letters(
        of original: Delivery.ID, _ resend: Resend, in delivery: Delivery, after last: AudienceMember, limit: Int
    ) throws(StorageError) -> [(member: AudienceMember, now: AudienceMember?)] {
        let isMeant = try isMeant(resend, before: delivery.notification.sequence)
        var reader = RefusalReader(FailedPushTable(connection), of: original, after: last)
        var letters: [(member: AudienceMember, now: AudienceMember?)] = []
        while letters.count < limit, let refusal = try reader.next(where: isMeant) {
            letters.append((refusal.refusal.member, try memberNow(refusal, in: delivery)))
        }
        return letters
    }

    /// Returns the member to which a resend sends a dead letter: the refused registration with its current channel; nil
    /// if the registration no longer exists. A template registration is found by its sequence number, a native one by
    /// its id. A direct send has no registration, so its member stays the same.
    private func memberNow(
        _ refused: RecordedRefusal, in delivery: Delivery
    ) throws(StorageError) -> AudienceMember? {
        let (notification, member) = (delivery.notification, refused.refusal.member)
        if case .direct = notification.target { return member }
        if notification.isOfTemplates {
            return try connection.first(
                "SELECT channel FROM registrations WHERE hub = ? AND sequence = ? AND template IS NOT NULL",
                notification.hub.rawValue, member.registration
            ) { AudienceMember(channel: ChannelID(rawValue: $0.integer(0)), registration: member.registration) }
        }
        guard let id = refused.registration else { return nil }
        return try connection.first(
            "SELECT channel FROM registrations WHERE hub = ? AND id = ? AND template IS NULL",
            notification.hub.rawValue, StoredID(id)
        ) { AudienceMember(channel: ChannelID(rawValue: $0.integer(0))) }
    }
}

extension Notification {
    fileprivate var isOfTemplates: Bool {
        if case .template = content { true } else { false }
    }
}
