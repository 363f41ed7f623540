/// Counts the members of one delivery that failed or were stopped, for the funnel. It reads their refusals and attempts
/// from rows and from `PageRecords`. At most one `PageRecords` value is in memory at a time.
public struct TriedMembers<Records: FailedPushRecords> {
    private let records: Records
    private let delivery: Delivery.ID

    private var batch: Int { 500 }

    public init(_ records: Records, of delivery: Delivery.ID) {
        self.records = records
        self.delivery = delivery
    }

    // MARK: Failed

    /// Counts the refusals that count as failed pushes. A refusal counts if the push service answered, if the push was
    /// abandoned after at least one attempt, or if the device was removed before the retry. The attempts are counted in
    /// the refusal itself, or recorded as `Attempt`s.
    public func failedCount() throws(StorageError) -> Int { try failedRowCount() + failedPageCount() }

    /// Counts the refusals that are stored as rows and count as failed pushes. An abandoned push without an attempt in
    /// its own row counts if an attempt is recorded elsewhere.
    private func failedRowCount() throws(StorageError) -> Int {
        var count = try records.failedRowCount(in: delivery)
        var last = AudienceMember.none
        var page: (last: AudienceMember, records: PageRecords)?
        var isPastPages = false
        while true {
            let members = try records.abandonedRows(after: last, in: delivery, limit: batch)
            for member in members {
                if try records.hasRow(.attempt, of: member, in: delivery) {
                    count += 1
                    continue
                }
                // The `PageRecords` are read in the order of their members, each only once.
                while !isPastPages, page.map({ $0.last < member }) ?? true {
                    page = try records.pageRecords(after: page?.last ?? .none, in: delivery)
                    isPastPages = page == nil
                }
                if page?.records.hasAttempts(of: member) ?? false { count += 1 }
            }
            guard members.count == batch, let end = members.last else { return count }
            last = end
        }
    }

    /// Counts the refusals that are stored in `PageRecords` and count as failed pushes.
    private func failedPageCount() throws(StorageError) -> Int {
        var count = 0
        let haveRows = (
            refusals: try records.hasRows(.refusal, in: delivery), attempts: try records.hasRows(.attempt, in: delivery)
        )
        var last = AudienceMember.none
        while let page = try records.pageRecords(after: last, in: delivery) {
            for index in 0..<page.records.refusalCount {
                let member = page.records.member(ofRefusal: index)
                // The row of the same member is newer, and `failedRowCount` decides whether it counts.
                if haveRows.refusals, try records.hasRow(.refusal, of: member, in: delivery) { continue }
                let facts = page.records.facts(ofRefusal: index)
                if facts.wasSent || !facts.hasHandle {
                    count += 1
                } else if facts.outcome == .abandoned {
                    var wasTried = facts.attempts > 0 || page.records.hasAttempts(of: member)
                    if !wasTried, haveRows.attempts {
                        wasTried = try records.hasRow(.attempt, of: member, in: delivery)
                    }
                    if wasTried { count += 1 }
                }
            }
            last = page.last
        }
        return count
    }

    // MARK: Stopped

    /// Counts the members that were tried without success and have neither a refusal nor a retry. A member whose
    /// attempts were all superseded does not count.
    public func stoppedCount() throws(StorageError) -> Int {
        var count = 0
        var last = AudienceMember.none
        var page: (last: AudienceMember, records: PageRecords)?
        var isPastPages = false
        while true {
            if !isPastPages, page == nil {
                page = try records.pageRecords(after: last, in: delivery)
                isPastPages = page == nil
            }
            let rows = try records.triedRows(after: last, through: page?.last, in: delivery, limit: batch)
            // The last member that this iteration covers. If there are more rows than were read, the next iteration
            // reads them, together with the attempts of the same members in the `PageRecords`.
            let end = rows.count == batch ? rows[rows.count - 1].member : page?.last
            var tried: [AudienceMember: AttemptOutcomes] = [:]
            for row in rows { tried[row.member] = row.attempts }
            if let records = page?.records {
                for index in records.firstAttempt(after: last)..<records.attemptCount {
                    let member = records.member(ofAttempt: index)
                    if let end, member > end { break }
                    tried[member, default: AttemptOutcomes()].add(records.outcome(ofAttempt: index))
                }
            }
            for (member, attempts) in tried where !attempts.hasSuccess && !attempts.areSuperseded {
                if page?.records.refusal(of: member) == nil,
                    try !records.hasRow(.refusal, of: member, in: delivery),
                    try !records.hasRow(.retry, of: member, in: delivery)
                {
                    count += 1
                }
            }
            guard let end else { return count }
            last = end
            if page?.last == end { page = nil }
        }
    }
}
