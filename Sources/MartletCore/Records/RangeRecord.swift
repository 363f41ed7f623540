public import MartletModel

/// What one page of a fan-out has come to, kept as long as the notification: for a device that has no record of its own it
/// tells when it was looked at whether he is in the audience, and what became of those who were.
public struct RangeRecord: Hashable, Sendable {
    /// The range ends with this member; it begins after the end of the one before.
    public var last: AudienceMember
    public var snapshot: AudienceSnapshot
    public var startedAt: Timestamp
    public var endedAt: Timestamp
    /// How many of the page ended which way; those that are tried again are in none.
    public var counts: [OutcomeName: Int]
    /// Why members were not sent the message, by what they were counted as: nothing is kept of each.
    public var reasons: [OutcomeName: String]
    /// Where was sent to: scheme, host and port. No more than `originLimit`.
    public var origins: [String]

    public static let originLimit = 8

    public init(
        last: AudienceMember, snapshot: AudienceSnapshot, startedAt: Timestamp, endedAt: Timestamp,
        counts: [OutcomeName: Int] = [:], reasons: [OutcomeName: String] = [:], origins: [String] = []
    ) {
        self.last = last
        self.snapshot = snapshot
        self.startedAt = startedAt
        self.endedAt = endedAt
        self.counts = counts
        self.reasons = reasons
        self.origins = origins
    }
}
