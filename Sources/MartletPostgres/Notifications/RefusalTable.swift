import MartletCore
import MartletModel

/// Stores refusals as rows, and reads refusals from rows and from `PageRecords`.
struct RefusalTable {
    private let session: ShardSession

    init(_ session: ShardSession) {
        self.session = session
    }

    // MARK: Listing

    func page(
        of id: NotificationID, after position: RefusalPosition, limit: Int
    ) throws(StorageError) -> RefusalPage {
        try FailedPushTable(session).refusalPage(of: deliveries(of: id), after: position, limit: limit)
    }

    private func deliveries(
        of id: NotificationID
    ) throws(StorageError) -> [(id: Delivery.ID, platform: PlatformID)] {
        let sequence = try session.first(
            "SELECT sequence FROM notifications WHERE shard = $1 AND id = $2", id.bytes
        ) { $0.integer(0) }
        guard let sequence else { return [] }
        return try DeliveryTable(session).deliveries(of: sequence)
    }

    /// Returns the notifications with refusals, in the order of their ids.
    func notifications(after id: NotificationID?, limit: Int) throws(StorageError) -> [NotificationID] {
        try session.all(
            "SELECT id FROM notifications WHERE shard = $1 AND has_refusals AND id > $2 ORDER BY id LIMIT $3",
            id?.bytes ?? [], limit, read: Self.id)
    }

    /// Returns the notifications with refusals, the newest first.
    func latest(before id: NotificationID?, limit: Int) throws(StorageError) -> [NotificationID] {
        try session.all(
            "SELECT id FROM notifications WHERE shard = $1 AND has_refusals AND id < $2 ORDER BY id DESC LIMIT $3",
            id?.bytes ?? [UInt8](repeating: .max, count: 17), limit, read: Self.id)
    }

    private static func id(_ row: Row) throws(StorageError) -> NotificationID {
        var columns = ColumnReader(row)
        return try columns.notificationID()
    }

    /// Counts the refusals of a notification by outcome and reason, the most frequent first.
    /// - Parameters:
    ///   - lookLimit: The maximum number of refusals that are counted; if there are more, the result is partial.
    ///   - limit: The maximum number of counts in the result.
    func reasons(of id: NotificationID, lookLimit: Int, limit: Int) throws(StorageError) -> RefusalReasons {
        try FailedPushTable(session).refusalReasons(of: deliveries(of: id), lookLimit: lookLimit, limit: limit)
    }

    // MARK: Members

    /// Returns those refusals of the given members that are stored as rows.
    func rows(of members: [AudienceMember], in delivery: Delivery.ID) throws(StorageError) -> [Refusal] {
        try session.all(
            """
            SELECT r.channel, r.registration, r.handle, r.outcome, r.reason, r.refused_at, r.attempts, r.origin, r.status,
                r.connection, r.fate, r.registration_id, r.installation_id
            FROM unnest($3, $4) m (channel, registration) JOIN refusals r ON r.shard = $1 AND r.delivery = $2
                AND r.channel = m.channel AND r.registration = m.registration
            """, delivery.rawValue, members.map(\.channel.rawValue), members.map(\.registration), read: Self.refusal
        ).map(\.refusal)
    }

    /// Returns those of the given members that have a refusal.
    func refused(_ members: [AudienceMember], in delivery: Delivery.ID) throws(StorageError) -> Set<AudienceMember> {
        guard !members.isEmpty else { return [] }
        let refused = try PageRecordTable(session).refused(members, in: delivery)
        let left = members.filter { !refused.contains($0) }
        let rows = try session.all(
            """
            SELECT m.channel, m.registration FROM unnest($3, $4) m (channel, registration)
                JOIN refusals r ON r.shard = $1 AND r.delivery = $2 AND r.channel = m.channel
                    AND r.registration = m.registration
            """, delivery.rawValue, left.map(\.channel.rawValue), left.map(\.registration)
        ) { row in
            var columns = ColumnReader(row)
            return columns.member()
        }
        return refused.union(rows)
    }

    // MARK: Rows

    /// Stores refusals as rows. The ids of the refused registration and of its installation are stored with the
    /// refusal, because a refusal can lead to the removal of the registration.
    func insertRows(_ refusals: [Refusal], _ registrations: RefusedRegistrations, of delivery: Delivery.ID) {
        // PostgreSQL refuses a statement that writes one row twice. Of several refusals of one member the last is kept.
        let refusals = Dictionary(refusals.map { ($0.member, $0) }) { _, last in last }.values
            .sorted { $0.member < $1.member }
        guard !refusals.isEmpty else { return }
        let ids = refusals.map { registrations.ids(of: $0) }
        session.run(
            """
            INSERT INTO refusals (shard, delivery, channel, registration, handle, outcome, reason, refused_at, attempts,
                origin, status, connection, fate, registration_id, installation_id)
            SELECT $1, $2, r.channel, r.registration, r.handle, r.outcome, r.reason, r.refused_at, r.attempts, r.origin,
                r.status, r.connection, r.fate, r.registration_id, r.installation_id
            FROM unnest($3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15) r (channel, registration, handle,
                outcome, reason, refused_at, attempts, origin, status, connection, fate, registration_id, installation_id)
            ON CONFLICT (shard, delivery, channel, registration) DO UPDATE SET handle = excluded.handle,
                outcome = excluded.outcome, reason = excluded.reason, refused_at = excluded.refused_at,
                attempts = excluded.attempts, origin = excluded.origin, status = excluded.status,
                connection = excluded.connection, fate = excluded.fate, registration_id = excluded.registration_id,
                installation_id = excluded.installation_id
            """, delivery.rawValue, refusals.map(\.member.channel.rawValue), refusals.map(\.member.registration),
            refusals.map { OptionalByteText($0.handle?.text) }, refusals.map(\.outcome.rawValue),
            refusals.map { ByteText($0.reason) }, refusals.map(\.at), refusals.map(\.attempts),
            refusals.map { OptionalByteText($0.answer?.origin) }, NumberList(refusals.map { $0.answer?.status }),
            NumberList(refusals.map { $0.answer?.connection }), refusals.map(\.fate.rawValue),
            ids.map { OptionalByteText($0.registration) }, ids.map { OptionalByteText($0.installation) })
    }

    /// Returns refusals that are stored as rows, in the order of their members.
    func rows(
        of delivery: Delivery.ID, after member: AudienceMember, limit: Int
    ) throws(StorageError) -> [RecordedRefusal] {
        try session.all(
            """
            SELECT \(Self.columns) FROM refusals
            WHERE shard = $1 AND delivery = $2 AND (channel, registration) > ($3, $4)
            ORDER BY channel, registration LIMIT $5
            """, delivery.rawValue, member.channel.rawValue, member.registration, limit, read: Self.refusal)
    }

    private static let columns = """
        channel, registration, handle, outcome, reason, refused_at, attempts, origin, status, connection, fate,
        registration_id, installation_id
        """

    private static func refusal(_ row: Row) -> RecordedRefusal {
        var columns = ColumnReader(row)
        let refusal = Refusal(
            member: columns.member(), handle: columns.optionalText().map { PushHandle(text: $0) },
            outcome: OutcomeName(rawValue: columns.text()), reason: columns.text(), at: columns.timestamp(),
            attempts: Int(columns.integer()), answer: columns.answer(), fate: columns.fate())
        return RecordedRefusal(
            refusal: refusal, registration: columns.optionalText(), installation: columns.optionalText())
    }
}
