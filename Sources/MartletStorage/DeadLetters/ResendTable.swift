import MartletCore
import MartletModel

/// Notifications that send dead letters of others again, on one connection.
///
/// A resend names its original and, where it takes up only some of the dead letters, their outcome. Which those are is
/// read from the refusals of the original page by page: they change no more once it is over, and are kept while a resend
/// of them is under way.
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
        let new = NotificationDraft(
            id: draft.id, hub: draft.hub, content: original.notification.content, target: original.notification.target,
            acceptedAt: draft.acceptedAt, expiresAt: draft.expiresAt, collapse: original.notification.collapse,
            isConfidential: original.notification.isConfidential, resend: resend)
        guard case .accepted(let notification, let deliveries) = try notifications.accept(new) else { return .nothing }
        return .accepted(notification, deliveries)
    }

    /// The last of its first deliveries on each platform: a composed message has several, of which none is to supersede a
    /// resend of another.
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
            var reader = RefusalReader(connection, of: delivery, after: .none)
            if try reader.next(where: isMeant) != nil { return true }
        }
        return false
    }

    /// Returns whether a resend takes up refusals of an outcome: of its own where it has one, and of none that an earlier
    /// resend of the same original has taken up.
    /// - Parameter sequence: That of the resend.
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
        // Each is read by its own order, and the first of all of them are taken.
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

    /// Dead letters of one delivery of the original, each with the member that it is now.
    private func letters(
        of original: Delivery.ID, _ resend: Resend, in delivery: Delivery, after last: AudienceMember, limit: Int
    ) throws(StorageError) -> [(member: AudienceMember, now: AudienceMember?)] {
        let isMeant = try isMeant(resend, before: delivery.notification.sequence)
        var reader = RefusalReader(connection, of: original, after: last)
        var letters: [(member: AudienceMember, now: AudienceMember?)] = []
        while letters.count < limit, let refusal = try reader.next(where: isMeant) {
            letters.append((refusal.refusal.member, try memberNow(refusal, in: delivery)))
        }
        return letters
    }

    /// Returns the member that the registration of a refusal is now. It is found by its id, which is never used again.
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
