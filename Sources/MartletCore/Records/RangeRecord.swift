public import MartletModel

/// The result of one page of a fan-out, kept as long as the notification. Most devices have no record of their own. For
/// such a device, the record of its page shows when the audience was read, which decides whether the device was in the
/// audience. It also shows which outcomes the members of the page had.
public struct RangeRecord: Hashable, Sendable {
    /// The last member of the range. The range begins after the last member of the previous range.
    public var last: AudienceMember
    public var snapshot: AudienceSnapshot
    public var startedAt: Timestamp
    public var endedAt: Timestamp
    /// The number of members with each final outcome; members that are retried are not counted.
    public var counts: [OutcomeName: Int]
    /// The reasons why members were not sent the message, keyed by the outcome under which they were counted. These
    /// members have no records of their own.
    public var reasons: [OutcomeName: String]
    /// The origins to which pushes were sent, each as scheme, host and port; at most `originLimit` of them.
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
