import MartletModel

/// What the pushes of a page have come to, as it is recorded.
struct PageOutcomes {
    var counts: [OutcomeName: Int] = [:]
    var refusals: [Refusal] = []
    /// Attempts that are not a push's first and last.
    var attempts: [Attempt] = []
    /// Why members were not sent the message, by what they were counted as.
    var reasons: [OutcomeName: String] = [:]
    /// Where was sent to, as far as `RangeRecord` keeps it.
    var origins: Set<String> = []
    /// What the service said of members that it took, where a test send asked.
    var successReasons: [AudienceMember: String] = [:]
    /// Members that were not sent the message, which is not recorded of any of them.
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
