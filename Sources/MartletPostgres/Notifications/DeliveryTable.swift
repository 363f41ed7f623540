import MartletCore
import MartletModel

/// Stores and reads deliveries with their counts and retries.
struct DeliveryTable {
    let session: ShardSession

    init(_ session: ShardSession) {
        self.session = session
    }

    func insert(_ delivery: Delivery) {
        let part = delivery.part
        session.run(
            """
            INSERT INTO deliveries (shard, id, notification, platform, last_channel, last_registration, state, part, lead,
                side, narrowing, expires_at)
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
            """, delivery.id.rawValue, delivery.notification.sequence, delivery.platform.rawValue,
            delivery.bounds.channel.rawValue, delivery.bounds.registration, NotificationState.enqueued.rawValue,
            part?.number, part?.lead?.rawValue, part?.side?.rawValue, part?.narrowing?.description, part?.expiresAt)
    }

    // MARK: Progress

    func progress(of id: Delivery.ID) throws(StorageError) -> DeliveryProgress? {
        try session.first(
            """
            SELECT \(Self.progressColumns)
            FROM deliveries d JOIN notifications n ON n.shard = $1 AND n.sequence = d.notification
            WHERE d.shard = $1 AND d.id = $2
            """, id.rawValue, read: progress)
    }

    /// Returns the progress of each delivery of a notification, in the order of their ids.
    func progress(ofNotification sequence: Int64) throws(StorageError) -> [DeliveryProgress] {
        try session.all(
            """
            SELECT \(Self.progressColumns)
            FROM deliveries d JOIN notifications n ON n.shard = $1 AND n.sequence = d.notification
            WHERE d.shard = $1 AND d.notification = $2 ORDER BY d.id
            """, sequence, read: progress)
    }

    static let progressColumns = """
        \(StoredNotification.columns), d.id, d.platform, d.last_channel, d.last_registration, d.part, d.lead, d.side,
        d.narrowing, d.expires_at, d.state, d.cursor_channel, d.cursor_registration, d.is_fanned_out
        """

    private func progress(_ row: Row) throws(StorageError) -> DeliveryProgress {
        try Self.progress(row, in: session.shard)
    }

    static func progress(_ row: Row, in shard: Shard) throws(StorageError) -> DeliveryProgress {
        let stored = try StoredNotification(row, in: shard)
        var columns = ColumnReader(row, from: StoredNotification.columnCount)
        var delivery = Delivery(
            id: Delivery.ID(rawValue: columns.integer()), notification: stored.notification,
            platform: PlatformID(rawValue: columns.text()),
            bounds: AudienceBounds(channel: ChannelID(rawValue: columns.integer()), registration: columns.integer()))
        delivery.part = try part(&columns, threshold: stored.threshold)
        return DeliveryProgress(
            delivery: delivery, state: try state(columns.text()), cursor: columns.member(), isFannedOut: columns.bool())
    }

    private static func part(_ columns: inout ColumnReader, threshold: UInt64?) throws(StorageError) -> DeliveryPart? {
        let number = columns.optionalInteger()
        let lead = columns.optionalInteger().map { Delivery.ID(rawValue: $0) }
        let side = columns.optionalInteger().flatMap { SampleSide(rawValue: $0) }
        let narrowing = columns.optionalText()
        let expiresAt = columns.optionalTimestamp()
        guard let number else { return nil }
        return DeliveryPart(
            number: number, lead: lead, side: side, threshold: side == nil ? nil : threshold,
            narrowing: try StoredTarget.expression(narrowing), expiresAt: expiresAt)
    }

    private static func state(_ text: String) throws(StorageError) -> NotificationState {
        guard let state = NotificationState(rawValue: text) else { throw StorageError.unreadable("delivery") }
        return state
    }

    // MARK: Reports

    /// Returns each delivery of a notification with its counts and its remaining work, in the order of their ids.
    func statuses(of notification: Int64) throws(StorageError) -> [DeliveryStatus] {
        try session.all(
            """
            SELECT d.platform, d.state, d.started_at, d.ended_at, d.is_fanned_out, d.side, c.outcomes, c.counts,
                (SELECT count(*) FROM retries r WHERE r.shard = $1 AND r.delivery = d.id),
                (SELECT count(*) FROM retries h WHERE h.shard = $1 AND h.delivery = d.id AND h.outcome = $3)
            FROM deliveries d CROSS JOIN LATERAL (
                SELECT array_agg(o.outcome) AS outcomes, array_agg(o.count) AS counts FROM outcome_counts o
                WHERE o.shard = $1 AND o.delivery = d.id) c
            WHERE d.shard = $1 AND d.notification = $2 ORDER BY d.id
            """, notification, OutcomeName.held.rawValue
        ) { row throws(StorageError) in
            let names = row.texts(6).map { OutcomeName(rawValue: $0) }
            let report = DeliveryReport(
                platform: PlatformID(rawValue: row.text(0)), state: try Self.state(row.text(1)),
                startedAt: row.optionalTimestamp(2), endedAt: row.optionalTimestamp(3),
                counts: Dictionary(uniqueKeysWithValues: zip(names, row.integers(7).map { Int($0) })))
            let (waiting, held) = (Int(row.integer(8)), Int(row.integer(9)))
            return DeliveryStatus(
                report: report, isFannedOut: row.bool(4), retrying: waiting - held, held: held,
                side: row.optionalInteger(5).flatMap { SampleSide(rawValue: $0) })
        }
    }

    /// Returns the ids and platforms of the deliveries of a notification, in the order of the ids.
    func deliveries(of notification: Int64) throws(StorageError) -> [(id: Delivery.ID, platform: PlatformID)] {
        try session.all(
            "SELECT id, platform FROM deliveries WHERE shard = $1 AND notification = $2 ORDER BY id", notification
        ) { row in (id: Delivery.ID(rawValue: row.integer(0)), platform: PlatformID(rawValue: row.text(1))) }
    }

    // MARK: Retries

    func retries(of delivery: Delivery.ID, due now: Timestamp, limit: Int) throws(StorageError) -> [Retry] {
        try session.all(
            """
            SELECT channel, registration, attempts, due_at, outcome, reason FROM retries
            WHERE shard = $1 AND delivery = $2 AND due_at <= $3 ORDER BY due_at, channel, registration LIMIT $4
            """, delivery.rawValue, now, limit, read: Self.retry)
    }

    /// Returns the waiting retries of some members.
    func retries(of members: [AudienceMember], in delivery: Delivery.ID) throws(StorageError) -> [Retry] {
        try session.all(
            """
            SELECT r.channel, r.registration, r.attempts, r.due_at, r.outcome, r.reason
            FROM unnest($3, $4) m (channel, registration) JOIN retries r ON r.shard = $1 AND r.delivery = $2
                AND r.channel = m.channel AND r.registration = m.registration
            """, delivery.rawValue, members.map(\.channel.rawValue), members.map(\.registration), read: Self.retry)
    }

    private static func retry(_ row: Row) -> Retry {
        var columns = ColumnReader(row)
        return Retry(
            member: columns.member(), attempts: Int(columns.integer()), dueAt: columns.timestamp(),
            outcome: OutcomeName(rawValue: columns.text()), reason: columns.text())
    }

    func nextRetry(of delivery: Delivery.ID) throws(StorageError) -> Timestamp? {
        try session.first(
            "SELECT due_at FROM retries WHERE shard = $1 AND delivery = $2 ORDER BY due_at LIMIT 1", delivery.rawValue
        ) { $0.timestamp(0) }
    }

    // MARK: Parts

    /// Returns those of the given members that another delivery of the notification on the same platform has already
    /// handled. A member is handled if the other delivery has reached it, has recorded its refusal or retry, or has
    /// sent the push of another channel's member to its channel.
    func handled(
        _ members: [AudienceMember], besides delivery: Delivery
    ) throws(StorageError) -> Set<AudienceMember> {
        guard delivery.part != nil else { return [] }
        var handled: Set<AudienceMember> = []
        let others = try deliveries(of: delivery.notification.sequence).filter {
            $0.platform == delivery.platform && $0.id != delivery.id
        }
        for (other, _) in others {
            handled.formUnion(try RangeTable(session).reached(members, by: other))
            let left = members.filter { !handled.contains($0) }
            handled.formUnion(try RefusalTable(session).refused(left, in: other))
            handled.formUnion(try recorded(members.filter { !handled.contains($0) }, in: other))
        }
        return handled
    }

    /// Returns those of the given members that have a retry in a delivery, or whose channel was reached by the push to
    /// a member of another channel.
    private func recorded(
        _ members: [AudienceMember], in delivery: Delivery.ID
    ) throws(StorageError) -> [AudienceMember] {
        try session.all(
            """
            SELECT m.channel, m.registration FROM unnest($3, $4) m (channel, registration)
            WHERE EXISTS (SELECT 1 FROM retries r WHERE r.shard = $1 AND r.delivery = $2 AND r.channel = m.channel
                    AND r.registration = m.registration)
                OR EXISTS (SELECT 1 FROM attempts a WHERE a.shard = $1 AND a.delivery = $2 AND a.followed = m.channel
                    AND a.channel <> m.channel)
            """, delivery.rawValue, members.map(\.channel.rawValue), members.map(\.registration)
        ) { row in
            var columns = ColumnReader(row)
            return columns.member()
        }
    }
}
