import MartletModel

/// The outcomes of the pushes of a page, in the form in which they are recorded.
struct PageOutcomes {
    var counts: [OutcomeName: Int] = [:]
    var refusals: [Refusal] = []
    /// Attempts whose outcomes no refusal records: mainly attempts that are followed by a retry, and retries that
    /// succeeded.
    var attempts: [Attempt] = []
    /// Why members were not sent the message, keyed by the outcome under which they were counted.
    var reasons: [OutcomeName: String] = [:]
    /// The origins to which pushes were sent. Their number may exceed `RangeRecord.originLimit` somewhat: a merge adds
    /// all origins of the other outcomes if the limit was not reached before the merge.
    var origins: Set<String> = []
    /// The service's remarks on pushes that it accepted. Only test sends use them.
    var successReasons: [AudienceMember: String] = [:]
    /// Members whose pushes were suppressed. The store does not keep these members, only their number.
    var suppressed: [AudienceMember: Outcome] = [:]
    var retries: [Retry] = []
    /// Members whose retries have ended.
    var settled: [AudienceMember] = []

    /// Whether there is nothing to record.
    var isEmpty: Bool {
        counts.isEmpty && refusals.isEmpty && attempts.isEmpty && retries.isEmpty && settled.isEmpty
    }

    mutating func merge(_ other: PageOutcomes) {
        counts.merge(other.counts, uniquingKeysWith: +)
        refusals += other.refusals
        attempts += other.attempts
        reasons.merge(other.reasons) { $1 }
        if origins.count < RangeRecord.originLimit { origins.formUnion(other.origins) }
        successReasons.merge(other.successReasons) { $1 }
        suppressed.merge(other.suppressed) { $1 }
        retries += other.retries
        settled += other.settled
    }
}
