import MartletModel

extension RangeRecord {
    /// Creates the record of a page.
    /// - Parameters:
    ///   - page: The page. The range of the last page extends to the end of the audience.
    ///   - last: The end of the range, if the page is not the last page.
    init(
        _ page: AudiencePage, through last: AudienceMember, _ tally: PageTally, startedAt: Timestamp, endedAt: Timestamp
    ) {
        self.init(
            last: page.isLast ? .end : last, snapshot: page.snapshot, startedAt: startedAt,
            endedAt: endedAt, counts: tally.outcomes.counts, reasons: tally.outcomes.reasons,
            origins: tally.outcomes.origins.sorted())
    }
}
