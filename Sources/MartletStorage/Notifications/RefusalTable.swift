import MartletCore
import MartletModel

/// Stores refusals as rows, and reads refusals from rows and from `PageRecords`, on one connection.
struct RefusalTable {
    private let connection: Connection

    init(_ connection: Connection) {
        self.connection = connection
    }

    func page(
        of id: NotificationID, in hub: Hub.ID, after position: RefusalPosition, limit: Int
    ) throws(StorageError) -> RefusalPage {
        try FailedPushTable(connection).refusalPage(
            of: deliveries(of: id, in: hub, from: position.delivery), after: position, limit: limit)
    }

    /// Returns the deliveries of a notification with their platforms, in the order of their ids.
    /// - Parameter first: The lowest id to return.
    private func deliveries(
        of id: NotificationID, in hub: Hub.ID, from first: Delivery.ID
    ) throws(StorageError) -> [(id: Delivery.ID, platform: PlatformID)] {
        try connection.all(
            """
            SELECT d.id, d.platform FROM deliveries d JOIN notifications n ON n.sequence = d.notification
            WHERE n.hub = ? AND n.id = ? AND d.id >= ? ORDER BY d.id
            """, hub.rawValue, id.bytes, first.rawValue
        ) { row in (Delivery.ID(rawValue: row.integer(0)), PlatformID(rawValue: row.text(1))) }
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

    /// Records that the notification of a delivery has no refusals any more, if its last refusals were removed. The
    /// notification then leaves the list of notifications with refusals.
    func forgetRefusals(ofNotificationWith delivery: Int64) throws(StorageError) {
        try connection.run(
            """
            UPDATE notifications SET has_refusals = 0
            WHERE sequence = (SELECT notification FROM deliveries WHERE id = ?) AND has_refusals = 1
                AND NOT EXISTS (SELECT 1 FROM deliveries d JOIN refusals r ON r.delivery = d.id
                    WHERE d.notification = notifications.sequence)
                AND NOT EXISTS (SELECT 1 FROM deliveries d JOIN page_records p ON p.delivery = d.id
                    WHERE d.notification = notifications.sequence AND p.refusals > 0)
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

    /// The query for a page of a hub's notifications with refusals, the newest first.
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
            throw StorageError(.corrupt, "A notification in the database has an invalid id; restore a backup.")
        }
        return id
    }

    /// Counts the refusals of a notification by outcome and reason, the most frequent first.
    /// - Parameters:
    ///   - lookLimit: The maximum number of refusals that are counted; if there are more, the result is partial.
    ///   - limit: The maximum number of counts in the result.
    func reasons(
        of id: NotificationID, in hub: Hub.ID, lookLimit: Int, limit: Int
    ) throws(StorageError) -> RefusalReasons {
        try FailedPushTable(connection).refusalReasons(
            of: deliveries(of: id, in: hub, from: RefusalPosition.start.delivery), lookLimit: lookLimit, limit: limit)
    }

    /// Returns the refusal of a member; nil if it has none.
    func refusal(of member: AudienceMember, in delivery: Delivery.ID) throws(StorageError) -> Refusal? {
        let row = try connection.first(
            "\(Self.selection) WHERE delivery = ? AND channel = ? AND registration = ?", delivery.rawValue,
            member.channel.rawValue, member.registration, read: Self.refusal)
        if let row { return row.refusal }
        guard let records = try PageRecordTable(connection).records(about: member, in: delivery),
            let index = records.refusal(of: member)
        else { return nil }
        return records.recordedRefusal(index).refusal
    }

    /// Returns those of the given members that have a refusal.
    func refused(
        _ members: some Sequence<AudienceMember>, in delivery: Delivery.ID
    ) throws(StorageError) -> Set<AudienceMember> {
        var refused = try PageRecordTable(connection).refused(members, in: delivery)
        for member in members where !refused.contains(member) {
            if try hasRow(of: member, in: delivery) { refused.insert(member) }
        }
        return refused
    }

    private func hasRow(of member: AudienceMember, in delivery: Delivery.ID) throws(StorageError) -> Bool {
        try connection.first(
            "SELECT 1 FROM refusals WHERE delivery = ? AND channel = ? AND registration = ?", delivery.rawValue,
            member.channel.rawValue, member.registration
        ) { _ in true } ?? false
    }

    // MARK: Rows

    /// Stores refusals as rows. The ids of a refusal's registration are stored with the refusal, because a refusal can
    /// lead to the removal of the registration.
    func insertRows(_ refusals: [Refusal], of delivery: Delivery.ID) throws(StorageError) {
        guard !refusals.isEmpty else { return }
        let registrations = try RefusedRegistrations(connection)
        defer { registrations.giveBack() }
        for refusal in refusals {
            let (registration, installation) = try registrations.ids(of: refusal)
            // INSERT OR REPLACE is not used here, because SQLite would keep a separate journal for each such statement.
            try connection.run(
                """
                INSERT INTO refusals (delivery, channel, registration, handle, outcome, reason, refused_at, attempts,
                    origin, status, connection, fate, registration_id, installation_id)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                ON CONFLICT DO UPDATE SET handle = excluded.handle, outcome = excluded.outcome,
                    reason = excluded.reason, refused_at = excluded.refused_at, attempts = excluded.attempts,
                    origin = excluded.origin, status = excluded.status, connection = excluded.connection,
                    fate = excluded.fate, registration_id = excluded.registration_id,
                    installation_id = excluded.installation_id
                """, delivery.rawValue, refusal.member.channel.rawValue, refusal.member.registration,
                refusal.handle.map { StoredHandle($0.text) }, refusal.outcome.rawValue, refusal.reason, refusal.at,
                refusal.attempts, refusal.answer?.origin, refusal.answer?.status, refusal.answer?.connection,
                refusal.fate.rawValue, registration.map(StoredID.init), installation)
        }
    }

    /// Returns refusals that are stored as rows, in the order of their members.
    func rows(
        of delivery: Delivery.ID, after member: AudienceMember, limit: Int
    ) throws(StorageError) -> [RecordedRefusal] {
        try connection.all(
            """
            \(Self.selection) WHERE delivery = ? AND (channel, registration) > (?, ?)
            ORDER BY channel, registration LIMIT ?
            """, delivery.rawValue, member.channel.rawValue, member.registration, limit, read: Self.refusal)
    }

    private static let selection = """
        SELECT channel, registration, handle, outcome, reason, refused_at, attempts, origin, status, connection, fate,
            registration_id, installation_id FROM refusals
        """

    private static func refusal(_ row: Statement) -> RecordedRefusal {
        let member = AudienceMember(channel: ChannelID(rawValue: row.integer(0)), registration: row.integer(1))
        let refusal = Refusal(
            member: member, handle: row.isNull(2) ? nil : PushHandle(text: StoredHandle(row, 2).text),
            outcome: OutcomeName(rawValue: row.text(3)), reason: row.text(4), at: row.timestamp(5),
            attempts: Int(row.integer(6)), answer: PushAnswer(row, 7), fate: HandleFate(row, 10))
        return RecordedRefusal(
            refusal: refusal, registration: row.isNull(11) ? nil : StoredID(row, 11).text,
            installation: row.optionalText(12))
    }
}
