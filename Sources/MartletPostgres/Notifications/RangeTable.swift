import MartletCore
import MartletModel

/// Stores and reads the results of pages (ranges), and the members that deliveries have reached.
struct RangeTable {
    private let session: ShardSession

    init(_ session: ShardSession) {
        self.session = session
    }

    func insert(_ range: RangeRecord, of delivery: Delivery.ID) {
        session.run(
            """
            INSERT INTO ranges (shard, delivery, last_channel, last_registration, change, registration, started_at,
                ended_at, summary)
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
            ON CONFLICT (shard, delivery, last_channel, last_registration) DO UPDATE SET change = excluded.change,
                registration = excluded.registration, started_at = excluded.started_at, ended_at = excluded.ended_at,
                summary = excluded.summary
            """, delivery.rawValue, range.last.channel.rawValue, range.last.registration, range.snapshot.change,
            range.snapshot.registration, range.startedAt, range.endedAt, Self.encode(range))
    }

    /// Stores blocks of members that a delivery has reached, in place of stored blocks with the same index.
    func insert(_ blocks: [DeliveredBitmap], of delivery: Delivery.ID) {
        guard !blocks.isEmpty else { return }
        session.run(
            """
            INSERT INTO reached (shard, delivery, place, members)
            SELECT $1, $2, b.place, b.members FROM unnest($3, $4) b (place, members)
            ON CONFLICT (shard, delivery, place) DO UPDATE SET members = excluded.members
            """, delivery.rawValue, blocks.map(\.index), blocks.map(\.bytes))
    }

    /// Returns the range that contains each of the given members. Members whose page was not sent are left out.
    func ranges(
        of members: [AudienceMember], in delivery: Delivery.ID
    ) throws(StorageError) -> [(AudienceMember, RangeRecord)] {
        try session.all(
            """
            SELECT m.channel, m.registration, r.last_channel, r.last_registration, r.change, r.registration, r.started_at,
                r.ended_at, r.summary
            FROM unnest($3, $4) m (channel, registration) CROSS JOIN LATERAL (
                SELECT * FROM ranges s WHERE s.shard = $1 AND s.delivery = $2
                    AND (s.last_channel, s.last_registration) >= (m.channel, m.registration)
                ORDER BY s.last_channel, s.last_registration LIMIT 1) r
            """, delivery.rawValue, members.map(\.channel.rawValue), members.map(\.registration)
        ) { row throws(StorageError) in
            var columns = ColumnReader(row)
            let member = columns.member()
            var range = RangeRecord(
                last: columns.member(),
                snapshot: AudienceSnapshot(change: columns.integer(), registration: columns.integer()),
                startedAt: columns.timestamp(), endedAt: columns.timestamp())
            guard Self.decode(columns.bytes(), into: &range) else { throw StorageError.unreadable("page") }
            return (member, range)
        }
    }

    /// Returns the snapshot from which the page of a member was read; nil if there is none. This page is the first one
    /// whose last member is the member itself or a later one. The last member of a resend's page is its last dead
    /// letter.
    func snapshot(of member: AudienceMember, in delivery: Delivery.ID) throws(StorageError) -> AudienceSnapshot? {
        try session.first(
            """
            SELECT change, registration FROM ranges
            WHERE shard = $1 AND delivery = $2 AND (last_channel, last_registration) >= ($3, $4)
            ORDER BY last_channel, last_registration LIMIT 1
            """, delivery.rawValue, member.channel.rawValue, member.registration
        ) { AudienceSnapshot(change: $0.integer(0), registration: $0.integer(1)) }
    }

    /// Returns all members that a delivery has reached, as far as they are stored.
    func reached(by delivery: Delivery.ID) throws(StorageError) -> [DeliveredBitmap] {
        try session.all(
            "SELECT place, members FROM reached WHERE shard = $1 AND delivery = $2 ORDER BY place", delivery.rawValue
        ) { row in DeliveredBitmap(index: row.integer(0), bytes: row.bytes(1)) }
    }

    /// Returns those of the given members that a delivery has reached. While it runs, members that were reached within
    /// the last second or so may be missing.
    func reached(_ members: [AudienceMember], by delivery: Delivery.ID) throws(StorageError) -> Set<AudienceMember> {
        guard !members.isEmpty else { return [] }
        let indices = Set(members.map { DeliveredBitmap.index(of: $0.number) })
        let blocks = try session.all(
            "SELECT place, members FROM reached WHERE shard = $1 AND delivery = $2 AND place = ANY($3)",
            delivery.rawValue, Array(indices)
        ) { row in (row.integer(0), DeliveredBitmap(index: row.integer(0), bytes: row.bytes(1))) }
        let byIndex = Dictionary(uniqueKeysWithValues: blocks)
        return Set(
            members.filter { member in
                byIndex[DeliveredBitmap.index(of: member.number)]?.contains(member.number) ?? false
            })
    }

    // MARK: Summaries

    /// Encodes the counts, reasons and origins of a range as three values.
    static func encode(_ range: RangeRecord) -> [UInt8] {
        var list = ByteList()
        list.add(ByteList.bytes(of: Dictionary(uniqueKeysWithValues: range.counts.map { ($0.rawValue, String($1)) })))
        list.add(ByteList.bytes(of: Dictionary(uniqueKeysWithValues: range.reasons.map { ($0.rawValue, $1) })))
        list.add(ByteList.bytes(of: range.origins))
        return list.bytes
    }

    static func decode(_ bytes: [UInt8], into range: inout RangeRecord) -> Bool {
        var reader = ByteListReader(bytes)
        guard let counts = reader.bytes().flatMap({ ByteListReader.map($0) }),
            let reasons = reader.bytes().flatMap({ ByteListReader.map($0) }),
            let origins = reader.bytes().flatMap({ ByteListReader.texts($0) })
        else { return false }
        for (name, count) in counts { range.counts[OutcomeName(rawValue: name)] = Int(count) }
        for (name, reason) in reasons { range.reasons[OutcomeName(rawValue: name)] = reason }
        range.origins = origins
        return true
    }
}
