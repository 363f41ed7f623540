import MartletCore
import MartletModel

/// Counts the members of one delivery that failed or were stopped, for the funnel. It reads their refusals and attempts
/// from rows and from `PageRecords`. At most one `PageRecords` value is in memory at a time.
struct TriedMembers {
    private let connection: Connection
    private let delivery: Delivery.ID
    private let pages: PageRecordTable
    private let attempts: AttemptTable

    private static let batch = 500

    init(_ connection: Connection, of delivery: Delivery.ID) {
        self.connection = connection
        self.delivery = delivery
        pages = PageRecordTable(connection)
        attempts = AttemptTable(connection)
    }

    // MARK: Failed

    /// Counts the refusals that are stored as rows and count as failed pushes. An abandoned push without an attempt in
    /// its own row counts if an attempt is recorded elsewhere.
    func failedRowCount() throws(StorageError) -> Int {
        let certain = try connection.first(
            """
            SELECT count(*) FROM refusals WHERE delivery = ?1
                AND (origin IS NOT NULL OR handle IS NULL OR outcome = ?2 AND attempts > 0)
            """, delivery.rawValue, OutcomeName.abandoned.rawValue
        ) { Int($0.integer(0)) }
        var count = certain ?? 0
        var last = AudienceMember.none
        var page: (last: AudienceMember, records: PageRecords)?
        var isPastPages = false
        while true {
            let members = try abandonedRows(after: last)
            for member in members {
                if try attempts.hasRow(of: member, in: delivery) {
                    count += 1
                    continue
                }
                // The `PageRecords` are read in the order of their members, each only once.
                while !isPastPages, page.map({ $0.last < member }) ?? true {
                    page = try pages.records(after: page?.last ?? AudienceMember.none, in: delivery)
                    isPastPages = page == nil
                }
                if page?.records.hasAttempts(of: member) ?? false { count += 1 }
            }
            guard members.count == Self.batch, let end = members.last else { return count }
            last = end
        }
    }

    /// Returns the members of abandoned pushes whose own rows count no attempt.
    private func abandonedRows(after member: AudienceMember) throws(StorageError) -> [AudienceMember] {
        try connection.all(
            """
            SELECT channel, registration FROM refusals
            WHERE delivery = ? AND (channel, registration) > (?, ?) AND origin IS NULL AND handle IS NOT NULL
                AND outcome = ? AND attempts <= 0
            ORDER BY channel, registration LIMIT ?
            """, delivery.rawValue, member.channel.rawValue, member.registration, OutcomeName.abandoned.rawValue,
            Self.batch, read: Self.member)
    }

    /// Counts the refusals that are stored in `PageRecords` and count as failed pushes.
    func failedPageCount() throws(StorageError) -> Int {
        var count = 0
        let rows = try rowsExist()
        try forEachPage { records throws(StorageError) in
            for index in 0..<records.refusalCount {
                let member = records.member(ofRefusal: index)
                // The row of the same member is newer, and `failedRowCount` decides whether it counts.
                if rows.refusals, try hasRow("refusals", of: member) { continue }
                let facts = records.facts(ofRefusal: index)
                if facts.wasSent || !facts.hasHandle {
                    count += 1
                } else if facts.outcome == .abandoned {
                    var wasTried = facts.attempts > 0 || records.hasAttempts(of: member)
                    if !wasTried, rows.attempts { wasTried = try attempts.hasRow(of: member, in: delivery) }
                    if wasTried { count += 1 }
                }
            }
        }
        return count
    }

    // MARK: Stopped

    /// Counts the members that were tried without success and have neither a refusal nor a retry. A member whose
    /// attempts were all superseded does not count.
    func stoppedCount() throws(StorageError) -> Int {
        var count = 0
        var last = AudienceMember.none
        var page: (last: AudienceMember, records: PageRecords)?
        var isPastPages = false
        while true {
            if !isPastPages, page == nil {
                page = try pages.records(after: last, in: delivery)
                isPastPages = page == nil
            }
            let rows = try triedRows(after: last, through: page?.last)
            // The last member that this iteration covers. If there are more rows than were read, the next iteration
            // reads them, together with the attempts of the same members in the `PageRecords`.
            let end = rows.count == Self.batch ? rows[rows.count - 1].member : page?.last
            var tried: [AudienceMember: Tried] = [:]
            for row in rows { tried[row.member] = row.tried }
            if let records = page?.records {
                for index in records.firstAttempt(after: last)..<records.attemptCount {
                    let member = records.member(ofAttempt: index)
                    if let end, member > end { break }
                    tried[member, default: Tried()].add(records.outcome(ofAttempt: index))
                }
            }
            for (member, tried) in tried where !tried.hasSuccess && !tried.isSuperseded {
                if page?.records.refusal(of: member) == nil, try !hasRow("refusals", of: member),
                    try !hasRow("retries", of: member)
                {
                    count += 1
                }
            }
            guard let end else { return count }
            last = end
            if page?.last == end { page = nil }
        }
    }

    private struct Tried {
        var hasSuccess = false
        /// True if all attempts were superseded.
        var isSuperseded = true

        mutating func add(_ outcome: OutcomeName) {
            if outcome == .success { hasSuccess = true }
            if outcome != .superseded { isSuperseded = false }
        }
    }

    private func triedRows(
        after member: AudienceMember, through last: AudienceMember?
    ) throws(StorageError) -> [(member: AudienceMember, tried: Tried)] {
        let last = last ?? .end
        return try connection.all(
            """
            SELECT channel, registration, max(outcome = ?), min(outcome = ?) FROM attempts
            WHERE delivery = ? AND (channel, registration) > (?, ?) AND (channel, registration) <= (?, ?)
            GROUP BY channel, registration ORDER BY channel, registration LIMIT ?
            """, OutcomeName.success.rawValue, OutcomeName.superseded.rawValue, delivery.rawValue,
            member.channel.rawValue, member.registration, last.channel.rawValue, last.registration, Self.batch
        ) { row in (Self.member(row), Tried(hasSuccess: row.bool(2), isSuperseded: row.bool(3))) }
    }

    // MARK: Support

    private func forEachPage(_ visit: (PageRecords) throws(StorageError) -> Void) throws(StorageError) {
        var last = AudienceMember.none
        while let page = try pages.records(after: last, in: delivery) {
            try visit(page.records)
            last = page.last
        }
    }

    private func rowsExist() throws(StorageError) -> (refusals: Bool, attempts: Bool) {
        func exist(_ table: String) throws(StorageError) -> Bool {
            try connection.first("SELECT 1 FROM \(table) WHERE delivery = ? LIMIT 1", delivery.rawValue) { _ in true }
                ?? false
        }
        return (try exist("refusals"), try exist("attempts"))
    }

    private func hasRow(_ table: String, of member: AudienceMember) throws(StorageError) -> Bool {
        try connection.first(
            "SELECT 1 FROM \(table) WHERE delivery = ? AND channel = ? AND registration = ?", delivery.rawValue,
            member.channel.rawValue, member.registration
        ) { _ in true } ?? false
    }

    private static func member(_ row: Statement) -> AudienceMember {
        AudienceMember(channel: ChannelID(rawValue: row.integer(0)), registration: row.integer(1))
    }
}
