import MartletModel

/// The outcomes of the pushes of a page, in the form in which they are recorded.
struct PageOutcomes {
    var counts: [OutcomeName: Int] = [:]
    var refusals: [Refusal] = []
    /// Attempts that are followed by a retry, and retries that succeeded.
    var attempts: [Attempt] = []
    /// Why members were not sent the message, keyed by the outcome under which these members were counted.
    var reasons: [OutcomeName: String] = [:]
    /// The origins that were sent to. There are about `RangeRecord.originLimit` of them at most: a merge adds all
    /// origins of the other outcomes if the limit was not reached before the merge.
    var origins: Set<String> = []
    /// The service's remarks on pushes that it accepted; used by test sends.
    var successReasons: [AudienceMember: String] = [:]
    /// Members whose pushes were suppressed. They are not stored: the store keeps only their number.
    var suppressed: [AudienceMember: Outcome] = [:]
    var retries: [Retry] = []
    /// Members whose retries have ended.
    var settled: [AudienceMember] = []

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
