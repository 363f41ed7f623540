import MartletCore
import MartletModel

/// Stores and reads deliveries with their counts, refusals and retries, on one connection.
struct DeliveryTable {
    let connection: Connection

    /// A table with records of individual members of deliveries.
    struct MemberTable {
        var name: String
        /// The column that follows the delivery in the table's primary key.
        var key: String
        /// The size of a row, as a multiple of the size of a row in most of these tables.
        var weight = 1
    }

    /// The tables with records of individual members. A broadcast can have a million rows in them. They are removed in
    /// portions before their delivery is removed.
    static let memberTables = [
        MemberTable(name: "refusals", key: "channel"), MemberTable(name: "retries", key: "channel"),
        MemberTable(name: "attempts", key: "channel"),
        MemberTable(name: "page_records", key: "last_channel", weight: 20),
        MemberTable(name: "ranges", key: "last_channel"), MemberTable(name: "reached", key: "place"),
    ]

    init(_ connection: Connection) {
        self.connection = connection
    }

    func insert(
        _ notification: Notification, on platform: PlatformID, _ bounds: AudienceBounds, part: DeliveryPart? = nil
    ) throws(StorageError) -> Delivery {
        try connection.run(
            """
            INSERT INTO deliveries (notification, platform, last_channel, last_registration, state, is_final,
                cursor_channel, cursor_registration, is_fanned_out)
            VALUES (?, ?, ?, ?, ?, 0, 0, 0, 0)
            """, notification.sequence, platform.rawValue, bounds.channel.rawValue, bounds.registration,
            NotificationState.enqueued.rawValue)
        let id = connection.lastInsertedRow
        if let part {
            try connection.run(
                "UPDATE deliveries SET part = ?, lead = ?, side = ?, narrowing = ?, expires_at = ? WHERE id = ?",
                part.number, part.lead?.rawValue, part.side?.rawValue, part.narrowing?.description, part.expiresAt, id)
        }
        return Delivery(
            id: Delivery.ID(rawValue: id), notification: notification, platform: platform, bounds: bounds, part: part)
    }

    /// Returns the first delivery of a notification on a platform; nil if the notification has no delivery there.
    func lead(of notification: Int64, on platform: PlatformID) throws(StorageError) -> Delivery.ID? {
        try connection.first(
            "SELECT id FROM deliveries WHERE notification = ? AND platform = ? ORDER BY id LIMIT 1", notification,
            platform.rawValue
        ) { Delivery.ID(rawValue: $0.integer(0)) }
    }

    func unfinishedIDs() throws(StorageError) -> [Delivery.ID] {
        try connection.all("SELECT id FROM deliveries WHERE is_final = 0") { Delivery.ID(rawValue: $0.integer(0)) }
    }

    func unfinished(after id: Delivery.ID, limit: Int) throws(StorageError) -> [DeliveryProgress] {
        try connection.all(
            "\(Self.progressSelection) WHERE d.is_final = 0 AND d.id > ? ORDER BY d.id LIMIT ?", id.rawValue, limit,
            read: Self.progress)
    }

    func progress(of id: Delivery.ID) throws(StorageError) -> DeliveryProgress? {
        try connection.first("\(Self.progressSelection) WHERE d.id = ?", id.rawValue, read: Self.progress)
    }

    /// Returns the progress of each delivery of a notification, in the order of their ids.
    func progress(ofNotification sequence: Int64) throws(StorageError) -> [DeliveryProgress] {
        try connection.all(
            "\(Self.progressSelection) WHERE d.notification = ? ORDER BY d.id", sequence, read: Self.progress)
    }

    private static let progressSelection = """
        SELECT \(StoredNotification.columns), d.id, d.platform, d.last_channel, d.last_registration, d.state,
            d.cursor_channel, d.cursor_registration, d.is_fanned_out, d.part, d.lead, d.side, d.narrowing, d.expires_at
        FROM deliveries d CROSS JOIN notifications n ON n.sequence = d.notification \(StoredNotification.joins)
        """

    private static func progress(_ row: Statement) throws(StorageError) -> DeliveryProgress {
        let first = StoredNotification.columnCount
        return DeliveryProgress(
            delivery: Delivery(
                id: Delivery.ID(rawValue: row.integer(first)), notification: try StoredNotification.read(row),
                platform: PlatformID(rawValue: row.text(first + 1)),
                bounds: AudienceBounds(
                    channel: ChannelID(rawValue: row.integer(first + 2)), registration: row.integer(first + 3)),
                part: row.isNull(first + 8) ? nil : try part(row, first + 8)),
            state: try state(row, first + 4), cursor: member(row, first + 5), isFannedOut: row.bool(first + 7))
    }

    /// Reads the part of a delivery from a row.
    /// - Parameter column: The column of the part's number; the other columns of the part follow it.
    private static func part(_ row: Statement, _ column: Int32) throws(StorageError) -> DeliveryPart {
        let side = row.optionalInteger(column + 2).flatMap { SampleSide(rawValue: $0) }
        return DeliveryPart(
            number: row.integer(column), lead: row.optionalInteger(column + 1).map { Delivery.ID(rawValue: $0) },
            side: side, threshold: side == nil ? nil : StoredNotification.threshold(row),
            narrowing: try PartTable.narrowing(row.optionalText(column + 3)),
            expiresAt: row.optionalTimestamp(column + 4))
    }

    private static func state(_ row: Statement, _ column: Int32) throws(StorageError) -> NotificationState {
        guard let state = NotificationState(rawValue: row.text(column)) else {
            throw StorageError(.corrupt, "A stored delivery has an unknown state; restore a backup.")
        }
        return state
    }

    /// Reads a member from a row.
    /// - Parameter column: The column of the channel; the column of the registration follows it.
    private static func member(_ row: Statement, _ column: Int32) -> AudienceMember {
        AudienceMember(channel: ChannelID(rawValue: row.integer(column)), registration: row.integer(column + 1))
    }

    /// Returns the report of each delivery of a notification, in the order of their ids.
    func reports(of notification: Int64) throws(StorageError) -> [DeliveryReport] {
        let rows = try connection.all(
            "SELECT id, platform, state, started_at, ended_at FROM deliveries WHERE notification = ? ORDER BY id",
            notification
        ) { row throws(StorageError) in
            (
                id: row.integer(0),
                report: DeliveryReport(
                    platform: PlatformID(rawValue: row.text(1)), state: try Self.state(row, 2),
                    startedAt: row.optionalTimestamp(3), endedAt: row.optionalTimestamp(4), counts: [:])
            )
        }
        var reports: [DeliveryReport] = []
        for (id, var report) in rows {
            let counts = try connection.all("SELECT outcome, count FROM outcome_counts WHERE delivery = ?", id) { row in
                (OutcomeName(rawValue: row.text(0)), Int(row.integer(1)))
            }
            report.counts = Dictionary(uniqueKeysWithValues: counts)
            reports.append(report)
        }
        return reports
    }

    /// Returns each delivery of a notification with its remaining work, in the order of their ids.
    func statuses(of notification: Int64) throws(StorageError) -> [DeliveryStatus] {
        let rest = try connection.all(
            """
            SELECT is_fanned_out, (SELECT count(*) FROM retries WHERE delivery = d.id),
                (SELECT count(*) FROM retries WHERE delivery = d.id AND outcome = ?), side
            FROM deliveries d WHERE notification = ? ORDER BY id
            """, OutcomeName.held.rawValue, notification
        ) { row in
            (
                isFannedOut: row.bool(0), waiting: Int(row.integer(1)), held: Int(row.integer(2)),
                side: row.optionalInteger(3).flatMap { SampleSide(rawValue: $0) }
            )
        }
        return zip(try reports(of: notification), rest).map { report, rest in
            DeliveryStatus(
                report: report, isFannedOut: rest.isFannedOut, retrying: rest.waiting - rest.held, held: rest.held,
                side: rest.side)
        }
    }

    func retries(of delivery: Delivery.ID, due now: Timestamp, limit: Int) throws(StorageError) -> [Retry] {
        try connection.all(
            """
            SELECT channel, registration, attempts, due_at, outcome, reason FROM retries
            WHERE delivery = ? AND due_at <= ? ORDER BY due_at, channel, registration LIMIT ?
            """, delivery.rawValue, now, limit, read: Self.retry)
    }

    static func retry(_ row: Statement) -> Retry {
        Retry(
            member: member(row, 0), attempts: Int(row.integer(2)), dueAt: row.timestamp(3),
            outcome: OutcomeName(rawValue: row.text(4)), reason: row.text(5))
    }

    func nextRetry(of delivery: Delivery.ID) throws(StorageError) -> Timestamp? {
        try connection.first(
            "SELECT due_at FROM retries WHERE delivery = ? ORDER BY due_at LIMIT 1", delivery.rawValue
        ) { $0.timestamp(0) }
    }

    func expediteRetries(beyond timestamp: Timestamp, by amount: Duration) throws(StorageError) {
        try connection.run(
            "UPDATE retries SET due_at = due_at - ?2 WHERE due_at > ?1", timestamp, amount.wholeMilliseconds)
    }

    func expediteRetries(
        after outcome: OutcomeName, in hub: Hub.ID, at now: Timestamp, limit: Int
    ) throws(StorageError) -> Int {
        try connection.run(
            """
            UPDATE retries SET due_at = ?1 WHERE (delivery, channel, registration) IN (
                SELECT r.delivery, r.channel, r.registration FROM deliveries d
                    CROSS JOIN notifications n ON n.sequence = d.notification
                    CROSS JOIN retries r ON r.delivery = d.id
                WHERE d.is_final = 0 AND n.hub = ?2 AND r.due_at > ?1 AND r.outcome = ?3 LIMIT ?4)
            """, now, hub.rawValue, outcome.rawValue, limit)
        return connection.changes
    }
}
