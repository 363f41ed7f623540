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

    /// Returns the rank of a resend, which is its place in the order of newer and older deliveries: the highest id
    /// among the first deliveries of the original on each platform. With the highest id, no delivery of a composed
    /// message supersedes a resend of another delivery of the same message. Nil if the original has no collapse key.
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
        ) { $0.integer(0) }
        for delivery in deliveries {
            let found = try connection.first(
                "SELECT 1 FROM refusals f WHERE f.delivery = ?1 AND \(Self.isMeant) LIMIT 1", delivery, resend.original,
                resend.outcome?.rawValue, sequence
            ) { _ in true }
            if found == true { return true }
        }
        return false
    }

    /// The SQL condition that the resend `?4` of the original `?2` sends the refusal `f` again: `f` has the outcome
    /// `?3` (null stands for every outcome), and no earlier resend of the original was for the outcome of `f`.
    private static let isMeant = """
        (?3 IS NULL OR f.outcome = ?3) AND f.outcome NOT IN (SELECT e.original_outcome FROM notifications e
            WHERE e.original = ?2 AND e.sequence < ?4 AND e.original_outcome IS NOT NULL)
        """

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
        ) { $0.integer(0) }
        // The first `limit` dead letters of each delivery, sorted. If there are several deliveries, the first `limit`
        // of all these dead letters are taken below.
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

    /// Returns dead letters of one delivery of the original, each with the member to which the resend sends it; nil
    /// instead of this member if the registration no longer exists.
    private func letters(
        of original: Int64, _ resend: Resend, in delivery: Delivery, after last: AudienceMember, limit: Int
    ) throws(StorageError) -> [(member: AudienceMember, now: AudienceMember?)] {
        let notification = delivery.notification
        return try connection.all(
            """
            SELECT f.channel, f.registration, r.channel, r.sequence FROM refusals f
                LEFT JOIN registrations r ON \(Self.isSame(delivery))
            WHERE f.delivery = ?1 AND \(Self.isMeant) AND (f.channel, f.registration) > (?5, ?6)
            ORDER BY f.channel, f.registration LIMIT ?7
            """, original, resend.original, resend.outcome?.rawValue, notification.sequence, last.channel.rawValue,
            last.registration, limit, notification.hub.rawValue
        ) { row in
            let member = AudienceMember(channel: ChannelID(rawValue: row.integer(0)), registration: row.integer(1))
            return (member: member, now: Self.memberNow(row, member, in: delivery))
        }
    }

    /// Returns the SQL condition that the row `r` is the registration of the refusal `f` in its present state. The ids
    /// of the two are compared, because ids are never used again.
    private static func isSame(_ delivery: Delivery) -> String {
        delivery.notification.isOfTemplates
            ? "r.hub = ?8 AND r.sequence = f.registration AND r.template IS NOT NULL"
            : "r.hub = ?8 AND r.id = f.registration_id AND r.template IS NULL"
    }

    /// Returns the member to which a resend sends a dead letter: its registration at the current channel; nil if the
    /// registration no longer exists.
    /// - Parameter row: A row whose third column is the registration's current channel, and whose fourth is its
    ///   sequence number.
    private static func memberNow(
        _ row: Statement, _ member: AudienceMember, in delivery: Delivery
    ) -> AudienceMember? {
        if case .direct = delivery.notification.target { return member }
        guard let channel = row.optionalInteger(2) else { return nil }
        return AudienceMember(
            channel: ChannelID(rawValue: channel),
            registration: delivery.notification.isOfTemplates ? row.integer(3) : 0)
    }
}

extension Notification {
    fileprivate var isOfTemplates: Bool {
        if case .template = content { true } else { false }
    }
}
