import MartletCore
import MartletModel

extension DeliveryTable {
    /// Records a step. Does nothing if the delivery was removed together with its hub.
    /// - Returns: Whether the delivery exists.
    func record(_ step: DeliveryStep, _ cache: NumberCache) throws(StorageError) -> Bool {
        guard session.numbers != nil else { return false }
        let found = try session.first(
            """
            UPDATE deliveries SET cursor_channel = coalesce($3, cursor_channel),
                cursor_registration = coalesce($4, cursor_registration), is_fanned_out = $5, state = $6, is_final = $7,
                started_at = coalesce(started_at, $8), ended_at = coalesce($9, ended_at)
            WHERE shard = $1 AND id = $2 RETURNING notification, platform
            """, step.delivery.rawValue, step.cursor?.channel.rawValue, step.cursor?.registration, step.isFannedOut,
            step.state.rawValue, step.state.isFinal, step.startedAt, step.endedAt
        ) { row in (notification: row.integer(0), platform: PlatformID(rawValue: row.text(1))) }
        guard let (notification, platform) = found else { return false }
        addCounts(step)
        try addRecords(step, of: notification, on: platform, cache)
        settle(step)
        addRetries(step)
        let ranges = RangeTable(session)
        if let range = step.range { ranges.insert(range, of: step.delivery) }
        ranges.insert(step.reached, of: step.delivery)
        if let reached = step.newlyReached { ranges.insert(reached.read(), of: step.delivery) }
        LaneTable(session).record(step, on: platform)
        let rollouts = RolloutTable(session)
        if let sentAt = step.sentAt { rollouts.recordSending(of: notification, at: sentAt) }
        if step.supersedesNone { CollapseTable(session).remove(step.delivery) }
        if let end = step.sampleEndsAt { rollouts.recordSampleEnd(of: notification, at: end) }
        if step.state.isFinal { BacklogTable.finish(notification, .withDeliveries, session) }
        return true
    }

    private func addCounts(_ step: DeliveryStep) {
        let counts = step.counts.filter { $0.value != 0 }.sorted { $0.key.rawValue < $1.key.rawValue }
        guard !counts.isEmpty else { return }
        session.run(
            """
            INSERT INTO outcome_counts (shard, delivery, outcome, count)
            SELECT $1, $2, c.outcome, c.count FROM unnest($3, $4) c (outcome, count)
            ON CONFLICT (shard, delivery, outcome) DO UPDATE SET count = outcome_counts.count + excluded.count
            """, step.delivery.rawValue, counts.map(\.key.rawValue), counts.map(\.value))
    }

    /// Stores the refusals and attempts of a step: together in `PageRecords` if `PageRecordTable.insert` can, else each
    /// in a row of its own.
    private func addRecords(
        _ step: DeliveryStep, of notification: Int64, on platform: PlatformID, _ cache: NumberCache
    ) throws(StorageError) {
        if step.refusals.isEmpty, step.attempts.isEmpty { return }
        var step = step
        let times = try registrationTimes(of: step.channelsToCheck)
        step.keepRenewedHandles { times[$0] }
        let registrations = try RefusedRegistrations(step.refusals, on: platform, session, cache)
        if try !PageRecordTable(session).insert(step, registrations) {
            RefusalTable(session).insertRows(step.refusals, registrations, of: step.delivery)
            AttemptTable(session).insert(step.attempts, of: step.delivery)
        }
        guard !step.refusals.isEmpty else { return }
        session.run(
            """
            UPDATE notifications SET has_refusals = true WHERE shard = $1 AND sequence = $2 AND NOT has_refusals
            """, notification)
    }

    /// Returns when the handles of channels were last registered. Removed channels are left out.
    private func registrationTimes(of channels: [ChannelID]) throws(StorageError) -> [ChannelID: Timestamp] {
        guard !channels.isEmpty else { return [:] }
        let found = try session.all(
            """
            SELECT c.channel, greatest(c.registered_at, (SELECT max(r.updated_at) FROM registrations r
                WHERE r.shard = $1 AND r.scope = ANY(ARRAY[c.platform * 2, c.platform * 2 + 1]) AND r.channel = c.channel))
            FROM unnest($2) u (channel) JOIN channels c ON c.shard = $1 AND c.channel = u.channel
            """, channels.map(\.rawValue)
        ) { row in
            var columns = ColumnReader(row)
            return (ChannelID(rawValue: columns.integer()), columns.timestamp())
        }
        return Dictionary(found) { first, _ in first }
    }

    private func settle(_ step: DeliveryStep) {
        guard !step.settled.isEmpty else { return }
        session.run(
            """
            DELETE FROM retries r USING unnest($3, $4) m (channel, registration)
            WHERE r.shard = $1 AND r.delivery = $2 AND r.channel = m.channel AND r.registration = m.registration
            """, step.delivery.rawValue, step.settled.map(\.channel.rawValue), step.settled.map(\.registration))
    }

    private func addRetries(_ step: DeliveryStep) {
        // PostgreSQL refuses a statement that writes one row twice. Of several retries of one member the last is kept.
        let retries = Dictionary(step.retries.map { ($0.member, $0) }) { _, last in last }.values
            .sorted { $0.member < $1.member }
        guard !retries.isEmpty else { return }
        session.run(
            """
            INSERT INTO retries (shard, delivery, channel, registration, attempts, due_at, outcome, reason)
            SELECT $1, $2, r.channel, r.registration, r.attempts, r.due_at, r.outcome, r.reason
            FROM unnest($3, $4, $5, $6, $7, $8) r (channel, registration, attempts, due_at, outcome, reason)
            ON CONFLICT (shard, delivery, channel, registration) DO UPDATE SET attempts = excluded.attempts,
                due_at = excluded.due_at, outcome = excluded.outcome, reason = excluded.reason
            """, step.delivery.rawValue, retries.map(\.member.channel.rawValue), retries.map(\.member.registration),
            retries.map(\.attempts), retries.map(\.dueAt), retries.map(\.outcome.rawValue),
            retries.map { ByteText($0.reason) })
    }
}

/// Looks up the ids of the registrations that refusals are about, all with two statements. A native send goes to a
/// channel, so a refusal of a native send is about the channel's oldest registration.
struct RefusedRegistrations {
    private var ids: [AudienceMember: (registration: String, installation: String?)] = [:]

    init(
        _ refusals: [Refusal], on platform: PlatformID, _ session: ShardSession, _ cache: NumberCache
    ) throws(StorageError) {
        guard !refusals.isEmpty, let number = cache.platform(platform) else { return }
        let members = Set(refusals.map { $0.registration ?? $0.member })
        let channels = members.filter { $0.registration == 0 }.map(\.channel.rawValue)
        if !channels.isEmpty {
            try add(
                session.all(
                    """
                    SELECT c.channel, 0::int8, r.id, i.id FROM unnest($3) c (channel) CROSS JOIN LATERAL (
                        SELECT o.id, o.installation FROM registrations o
                        WHERE o.shard = $1 AND o.scope = $2 AND o.channel = c.channel ORDER BY o.sequence LIMIT 1) r
                    LEFT JOIN installations i ON i.shard = $1 AND i.sequence = r.installation
                    """, Scope(platform: number, .native).number, channels, read: Self.read))
        }
        let others = members.filter { $0.registration > 0 }
        guard !others.isEmpty else { return }
        try add(
            session.all(
                """
                SELECT m.channel, m.registration, r.id, i.id FROM unnest($2, $3) m (channel, registration)
                    JOIN registrations r ON r.shard = $1 AND r.sequence = m.registration AND r.channel = m.channel
                    LEFT JOIN installations i ON i.shard = $1 AND i.sequence = r.installation
                """, others.map(\.channel.rawValue), others.map(\.registration), read: Self.read))
    }

    private typealias Found = (member: AudienceMember, registration: String, installation: String?)

    private static func read(_ row: Row) -> Found {
        var columns = ColumnReader(row)
        let member = columns.member()
        return (member, StoredForm.id(columns.bytes()), columns.optionalText())
    }

    private mutating func add(_ found: [Found]) {
        for (member, registration, installation) in found { ids[member] = (registration, installation) }
    }

    func ids(of refusal: Refusal) -> (registration: String?, installation: String?) {
        let found = ids[refusal.registration ?? refusal.member]
        return (found?.registration, found?.installation)
    }
}
