import MartletCore
import MartletModel

/// Stores and reads the results of pages (ranges), and the members that deliveries have reached, on one connection.
struct RangeTable {
    private let connection: Connection

    init(_ connection: Connection) {
        self.connection = connection
    }

    func insert(_ range: RangeRecord, of delivery: Delivery.ID) throws(StorageError) {
        try connection.run(
            """
            INSERT INTO ranges (delivery, last_channel, last_registration, change, registration, started_at, ended_at,
                summary)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?)
            ON CONFLICT DO UPDATE SET change = excluded.change, registration = excluded.registration,
                started_at = excluded.started_at, ended_at = excluded.ended_at, summary = excluded.summary
            """, delivery.rawValue, range.last.channel.rawValue, range.last.registration, range.snapshot.change,
            range.snapshot.registration, range.startedAt, range.endedAt, RangeSummary.encode(range))
    }

    func insert(_ blocks: [DeliveredBitmap], of delivery: Delivery.ID) throws(StorageError) {
        for block in blocks {
            try connection.run(
                """
                INSERT INTO reached (delivery, place, members) VALUES (?, ?, ?)
                ON CONFLICT DO UPDATE SET members = excluded.members
                """, delivery.rawValue, block.index, block.bytes)
        }
    }

    /// Returns the range that contains a member; nil if the delivery has not sent the member's page.
    func range(of member: AudienceMember, in delivery: Delivery.ID) throws(StorageError) -> RangeRecord? {
        try connection.first(
            """
            SELECT last_channel, last_registration, change, registration, started_at, ended_at, summary FROM ranges
            WHERE delivery = ? AND (last_channel, last_registration) >= (?, ?)
            ORDER BY last_channel, last_registration LIMIT 1
            """, delivery.rawValue, member.channel.rawValue, member.registration
        ) { row throws(StorageError) in
            var range = RangeRecord(
                last: AudienceMember(channel: ChannelID(rawValue: row.integer(0)), registration: row.integer(1)),
                snapshot: AudienceSnapshot(change: row.integer(2), registration: row.integer(3)),
                startedAt: row.timestamp(4), endedAt: row.timestamp(5))
            guard RangeSummary.decode(row.bytes(6), into: &range) else {
                throw StorageError(.corrupt, "What a page has come to cannot be read; restore a backup.")
            }
            return range
        }
    }

    /// Returns the snapshot from which the page of a member was read; nil if no such page is recorded. The page of a
    /// member is the first page whose last member is the member itself or a later member. The last member of a resend's
    /// page is its last dead letter.
    func snapshot(of member: AudienceMember, in delivery: Delivery.ID) throws(StorageError) -> AudienceSnapshot? {
        try connection.first(
            """
            SELECT change, registration FROM ranges
            WHERE delivery = ? AND (last_channel, last_registration) >= (?, ?)
            ORDER BY last_channel, last_registration LIMIT 1
            """, delivery.rawValue, member.channel.rawValue, member.registration
        ) { AudienceSnapshot(change: $0.integer(0), registration: $0.integer(1)) }
    }

    /// Returns those of the given members that a delivery has reached. The delivery must have ended.
    func reached(_ members: [AudienceMember], by delivery: Delivery.ID) throws(StorageError) -> Set<AudienceMember> {
        var reached: Set<AudienceMember> = []
        for (index, own) in Dictionary(grouping: members, by: { DeliveredBitmap.index(of: $0.number) }) {
            let block = try connection.first(
                "SELECT members FROM reached WHERE delivery = ? AND place = ?", delivery.rawValue, index
            ) { DeliveredBitmap(index: index, bytes: $0.bytes(0)) }
            if let block { reached.formUnion(own.filter { block.contains($0.number) }) }
        }
        return reached
    }

    func isReached(_ number: Int64, by delivery: Delivery.ID) throws(StorageError) -> Bool {
        let index = DeliveredBitmap.index(of: number)
        let block = try connection.first(
            "SELECT members FROM reached WHERE delivery = ? AND place = ?", delivery.rawValue, index
        ) { DeliveredBitmap(index: index, bytes: $0.bytes(0)) }
        return block?.contains(number) ?? false
    }
}

/// Encodes the counts, reasons and origins of a range as a list of texts: the number of texts for counts, these texts,
/// the number of texts for reasons, these texts, and the origins.
enum RangeSummary {
    static func encode(_ range: RangeRecord) -> [UInt8] {
        let counts = range.counts.sorted { $0.key.rawValue < $1.key.rawValue }.flatMap {
            [$0.key.rawValue, String($0.value)]
        }
        let reasons = range.reasons.sorted { $0.key.rawValue < $1.key.rawValue }.flatMap {
            [$0.key.rawValue, $0.value]
        }
        return TextListCoding.encode(
            [String(counts.count)] + counts + [String(reasons.count)] + reasons + range.origins)
    }

    /// Decodes a summary into a range.
    /// - Returns: Whether the bytes were written by `encode`.
    static func decode(_ bytes: [UInt8], into range: inout RangeRecord) -> Bool {
        guard var texts = TextListCoding.decode(bytes)?[...], let counts = part(of: &texts),
            let reasons = part(of: &texts)
        else { return false }
        for (name, count) in counts { range.counts[OutcomeName(rawValue: name)] = Int(count) }
        for (name, reason) in reasons { range.reasons[OutcomeName(rawValue: name)] = reason }
        range.origins = Array(texts)
        return true
    }

    private static func part(of texts: inout ArraySlice<String>) -> [String: String]? {
        guard let count = texts.popFirst().flatMap({ Int($0) }), (0...texts.count).contains(count) else { return nil }
        defer { texts = texts.dropFirst(count) }
        return StringMapCoding.map(of: texts.prefix(count))
    }
}
