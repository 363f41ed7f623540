import MartletCore
import MartletModel

/// Stores and reads the refusals and attempts of pages. Each row contains one `PageRecords`.
///
/// Each `PageRecords` covers the members after the last member of the previous one, up to its own last member.
struct PageRecordTable {
    private let session: ShardSession

    init(_ session: ShardSession) {
        self.session = session
    }

    // MARK: Reading

    /// Returns the first `PageRecords` whose last member comes after a member, with that last member; nil if there are
    /// none.
    func records(
        after member: AudienceMember, in delivery: Delivery.ID
    ) throws(StorageError) -> (last: AudienceMember, records: PageRecords)? {
        try records(from: member, in: delivery, includingIt: false)
    }

    private func records(
        from member: AudienceMember, in delivery: Delivery.ID, includingIt: Bool
    ) throws(StorageError) -> (last: AudienceMember, records: PageRecords)? {
        // Without `includingIt`, the search begins at the registration after the member's.
        try session.first(
            """
            SELECT last_channel, last_registration, records FROM page_records
            WHERE shard = $1 AND delivery = $2 AND (last_channel, last_registration) >= ($3, $4)
            ORDER BY last_channel, last_registration LIMIT 1
            """, delivery.rawValue, member.channel.rawValue,
            includingIt || member.registration == .max ? member.registration : member.registration + 1
        ) { row throws(StorageError) in
            var columns = ColumnReader(row)
            let last = columns.member()
            guard let records = PageRecords(columns.bytes()) else { throw StorageError.unreadable("list of refusals") }
            return (last, records)
        }
    }

    /// Returns whether any `PageRecords` of a delivery are stored.
    func hasRecords(of delivery: Delivery.ID) throws(StorageError) -> Bool {
        try session.exists(
            "SELECT 1 FROM page_records WHERE shard = $1 AND delivery = $2 LIMIT 1", delivery.rawValue)
    }

    /// Returns those of the given members that have a refusal in `PageRecords`.
    func refused(
        _ members: some Sequence<AudienceMember>, in delivery: Delivery.ID
    ) throws(StorageError) -> Set<AudienceMember> {
        var refused: Set<AudienceMember> = []
        try forEach(members, in: delivery) { member, records in
            if records.refusal(of: member) != nil { refused.insert(member) }
        }
        return refused
    }

    /// Calls `visit` with each member and the `PageRecords` whose range contains the member, in the order of the
    /// members. Each `PageRecords` is read once. Members after the last `PageRecords` are left out.
    func forEach(
        _ members: some Sequence<AudienceMember>, in delivery: Delivery.ID,
        _ visit: (AudienceMember, PageRecords) -> Void
    ) throws(StorageError) {
        guard try hasRecords(of: delivery) else { return }
        var current: (last: AudienceMember, records: PageRecords)?
        for member in members.sorted() {
            if current.map({ $0.last < member }) ?? true {
                guard let next = try records(from: member, in: delivery, includingIt: true) else { return }
                current = next
            }
            if let current { visit(member, current.records) }
        }
    }

    // MARK: Writing

    /// Stores the refusals and attempts of a page in rows, each with one `PageRecords` of a few hundred records.
    /// - Returns: False if each record must be stored as a row of its own: the step is not about a page, an attempt
    ///   reached another channel than its member's, or a `PageRecords` about these or later members is stored already.
    func insert(_ step: DeliveryStep, _ registrations: RefusedRegistrations) throws(StorageError) -> Bool {
        guard step.range != nil, step.attempts.allSatisfy({ $0.followed == nil }) else { return false }
        let refusals = Self.ordered(step.refusals) { $0.member < $1.member }
        let attempts = Self.ordered(step.attempts) {
            ($0.member, $0.at, $0.number) < ($1.member, $1.at, $1.number)
        }
        guard let first = Self.lower(refusals.first?.member, attempts.first?.member) else { return true }
        guard try !hasRecords(from: first, in: step.delivery) else { return false }
        var encoder = PageRecordsEncoder()
        var (restOfRefusals, restOfAttempts) = (refusals[...], attempts[...])
        var next: AudienceMember? = first
        while let member = next {
            while let attempt = restOfAttempts.first, attempt.member == member {
                encoder.append(attempt)
                restOfAttempts.removeFirst()
            }
            if let refusal = restOfRefusals.first, refusal.member == member {
                let (id, installation) = registrations.ids(of: refusal)
                encoder.append(
                    refusal, id.map { PageRecordsEncoder.Registration($0) }, installation: installation)
                restOfRefusals.removeFirst()
            }
            next = Self.lower(restOfRefusals.first?.member, restOfAttempts.first?.member)
            // All records of a member are in the same `PageRecords`, so a `PageRecords` ends only between two members.
            if encoder.isFull || next == nil { insert(&encoder, through: member, of: step.delivery) }
        }
        return true
    }

    private static func lower(_ one: AudienceMember?, _ other: AudienceMember?) -> AudienceMember? {
        guard let one, let other else { return one ?? other }
        return min(one, other)
    }

    private func hasRecords(from member: AudienceMember, in delivery: Delivery.ID) throws(StorageError) -> Bool {
        try session.exists(
            """
            SELECT 1 FROM page_records
            WHERE shard = $1 AND delivery = $2 AND (last_channel, last_registration) >= ($3, $4) LIMIT 1
            """, delivery.rawValue, member.channel.rawValue, member.registration)
    }

    private func insert(_ encoder: inout PageRecordsEncoder, through last: AudienceMember, of delivery: Delivery.ID) {
        session.run(
            """
            INSERT INTO page_records (shard, delivery, last_channel, last_registration, refusals, attempts, records)
            VALUES ($1, $2, $3, $4, $5, $6, $7)
            """, delivery.rawValue, last.channel.rawValue, last.registration, encoder.refusalCount,
            encoder.attemptCount, encoder.encoded())
        encoder = PageRecordsEncoder()
    }

    /// Sorts records. Of records with equal keys only the last is kept, because each replaces the one before.
    private static func ordered<Record>(_ records: [Record], _ isBefore: (Record, Record) -> Bool) -> [Record] {
        if zip(records, records.dropFirst()).allSatisfy({ isBefore($0, $1) }) { return records }
        let indices = records.indices.sorted { left, right in
            if isBefore(records[left], records[right]) { return true }
            return !isBefore(records[right], records[left]) && left < right
        }
        var ordered: [Record] = []
        ordered.reserveCapacity(records.count)
        for index in indices {
            if let last = ordered.last, !isBefore(last, records[index]) { ordered.removeLast() }
            ordered.append(records[index])
        }
        return ordered
    }
}
