import MartletModel

extension RangeRecord {
    /// - Parameters:
    ///   - page: Where it is the last, the range goes on to the end.
    ///   - last: Where it ends otherwise.
    init(
        _ page: AudiencePage, through last: AudienceMember, _ tally: PageTally, startedAt: Timestamp, endedAt: Timestamp
    ) {
        self.init(
            last: page.isLast ? .end : last, snapshot: page.snapshot, startedAt: startedAt,
            endedAt: endedAt, counts: tally.outcomes.counts, reasons: tally.outcomes.reasons,
            origins: tally.outcomes.origins.sorted())
    }
}
