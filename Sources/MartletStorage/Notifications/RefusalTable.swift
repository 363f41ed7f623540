import MartletCore
import MartletModel

/// Stores and reads refusals in the form in which they are listed, on one connection.
struct RefusalTable {
    private let connection: Connection

    init(_ connection: Connection) {
        self.connection = connection
    }

    func page(
        of id: NotificationID, in hub: Hub.ID, after position: RefusalPosition, limit: Int
    ) throws(StorageError) -> RefusalPage {
        let deliveries = try connection.all(
            """
            SELECT d.id, d.platform FROM deliveries d JOIN notifications n ON n.sequence = d.notification
            WHERE n.hub = ? AND n.id = ? AND d.id >= ? ORDER BY d.id
            """, hub.rawValue, id.bytes, position.delivery.rawValue
        ) { row in (Delivery.ID(rawValue: row.integer(0)), PlatformID(rawValue: row.text(1))) }
        var page = RefusalPage(records: [], next: nil)
        for (delivery, platform) in deliveries {
            let after = delivery == position.delivery ? position.member : .none
            // Reads one record more than the page has room for, to find out whether another page follows.
            let found = try refusals(of: delivery, on: platform, after: after, limit: limit - page.records.count + 1)
            for (member, record) in found {
                guard page.records.count < limit else { return page }
                page.records.append(record)
                page.next = RefusalPosition(delivery: delivery, member: member)
            }
        }
        page.next = nil
        return page
    }

    /// Records that the notification of a delivery has refusals. Only the first refusal of the notification changes the
    /// row.
    func recordRefusals(of delivery: Delivery.ID) throws(StorageError) {
        try connection.run(
            """
            UPDATE notifications SET has_refusals = 1
            WHERE sequence = (SELECT notification FROM deliveries WHERE id = ?) AND has_refusals = 0
            """, delivery.rawValue)
    }

    /// Records that the notification of a delivery has no refusals any more, if its last ones were removed. Then it is
    /// no longer listed.
    func forgetRefusals(ofNotificationWith delivery: Int64) throws(StorageError) {
        try connection.run(
            """
            UPDATE notifications SET has_refusals = 0
            WHERE sequence = (SELECT notification FROM deliveries WHERE id = ?) AND has_refusals = 1
                AND NOT EXISTS (SELECT 1 FROM deliveries d JOIN refusals r ON r.delivery = d.id
                    WHERE d.notification = notifications.sequence)
            """, delivery)
    }

    /// The query for a page of a hub's notifications with refusals. Its cost does not depend on the number of
    /// notifications without refusals.
    static let listing =
        "SELECT id FROM notifications WHERE hub = ? AND has_refusals = 1 AND id > ? ORDER BY id LIMIT ?"

    /// Returns the notifications with refusals, in the order of their ids.
    func notifications(
        in hub: Hub.ID, after id: NotificationID?, limit: Int
    ) throws(StorageError) -> [NotificationID] {
        try connection.all(Self.listing, hub.rawValue, id?.bytes ?? [], limit, read: Self.id)
    }

    /// The same, the newest first.
    static let latestListing =
        "SELECT id FROM notifications WHERE hub = ? AND has_refusals = 1 AND id < ? ORDER BY id DESC LIMIT ?"

    func latest(
        in hub: Hub.ID, before id: NotificationID?, limit: Int
    ) throws(StorageError) -> [NotificationID] {
        let end = id?.bytes ?? [UInt8](repeating: .max, count: 17)
        return try connection.all(Self.latestListing, hub.rawValue, end, limit, read: Self.id)
    }

    private static func id(_ row: Statement) throws(StorageError) -> NotificationID {
        guard let id = NotificationID(bytes: row.bytes(0)) else {
            throw StorageError(.corrupt, "A notification in the database has an id that is none; restore a backup.")
        }
        return id
    }

    /// Counts by outcome and reason, in a bounded number of rows.
    func reasons(
        of id: NotificationID, in hub: Hub.ID, lookLimit: Int, limit: Int
    ) throws(StorageError) -> RefusalReasons {
        let deliveries = try connection.all(
            """
            SELECT d.id FROM deliveries d JOIN notifications n ON n.sequence = d.notification
            WHERE n.hub = ? AND n.id = ? ORDER BY d.id
            """, hub.rawValue, id.bytes
        ) { $0.integer(0) }
        struct Key: Hashable {
            var outcome: String
            var reason: String
        }
        var counts: [Key: Int] = [:]
        var left = lookLimit
        var isPartial = false
        for delivery in deliveries {
            let found = try connection.all(
                "SELECT outcome, reason FROM refusals WHERE delivery = ? LIMIT ?", delivery, left + 1
            ) { Key(outcome: $0.text(0), reason: $0.text(1)) }
            for key in found.prefix(left) { counts[key, default: 0] += 1 }
            isPartial = isPartial || found.count > left
            left = max(0, left - found.count)
        }
        let sorted = counts.sorted {
            ($1.value, $0.key.outcome, $0.key.reason) < ($0.value, $1.key.outcome, $1.key.reason)
        }
        return RefusalReasons(
            counts: sorted.prefix(limit).map { key, count in
                RefusalReasons.Count(outcome: OutcomeName(rawValue: key.outcome), reason: key.reason, count: count)
            }, isPartial: isPartial || counts.count > limit)
    }

    private func refusals(
        of delivery: Delivery.ID, on platform: PlatformID, after member: AudienceMember, limit: Int
    ) throws(StorageError) -> [(AudienceMember, RefusalRecord)] {
        try connection.all(
            """
            SELECT channel, registration, handle, registration_id, installation_id, outcome, reason, refused_at,
                attempts, status, fate
            FROM refusals WHERE delivery = ? AND (channel, registration) > (?, ?)
            ORDER BY channel, registration LIMIT ?
            """, delivery.rawValue, member.channel.rawValue, member.registration, limit
        ) { row in
            let record = RefusalRecord(
                platform: platform, handle: row.isNull(2) ? nil : PushHandle(text: StoredHandle(row, 2).text),
                registration: row.isNull(3) ? nil : StoredID(row, 3).text, installation: row.optionalText(4),
                outcome: OutcomeName(rawValue: row.text(5)), reason: row.text(6), at: row.timestamp(7),
                attempts: Int(row.integer(8)), status: row.optionalInteger(9).map { Int($0) }, fate: HandleFate(row, 10)
            )
            return (
                AudienceMember(channel: ChannelID(rawValue: row.integer(0)), registration: row.integer(1)), record
            )
        }
    }
}
