public import MartletModel

/// An attempt of a push with several attempts: one that a retry follows, or a successful retry.
public struct Attempt: Hashable, Sendable {
    public var member: AudienceMember
    /// From 1. An attempt that failed for a reason outside the push, such as a refused credential, has the number of
    /// the next.
    public var number: Int
    public var outcome: OutcomeName
    /// The push service's own word; empty for a success.
    public var reason: String
    /// nil if nothing was sent, because it would have been futile.
    public var answer: PushAnswer?
    /// When the answer came, or when the attempt was given up.
    public var at: Timestamp
    public var fate: HandleFate
    /// The channel of a success to which the member's registration was followed; nil for its own, and for failures.
    public var followed: ChannelID?

    public init(
        member: AudienceMember, number: Int, outcome: OutcomeName, reason: String, answer: PushAnswer?, at: Timestamp,
        fate: HandleFate = .kept, followed: ChannelID? = nil
    ) {
        self.member = member
        self.number = number
        self.outcome = outcome
        self.reason = reason
        self.answer = answer
        self.at = at
        self.fate = fate
        self.followed = followed
    }
}

/// The origin that a push was sent to, and its answer.
public struct PushAnswer: Hashable, Sendable {
    /// Scheme, host and port of the origin.
    public var origin: String
    /// nil if no answer came.
    public var status: Int?
    /// The number of the connection within this process, from 1; nil if nothing was sent, or for a plain success.
    public var connection: Int?

    public init(origin: String, status: Int?, connection: Int? = nil) {
        self.origin = origin
        self.status = status
        self.connection = connection
    }
}

/// The consequence of a push service's answer for the handle of a device.
public enum HandleFate: String, Hashable, Sendable {
    case kept
    /// The handle was called dead, and that was believed.
    case removed
    /// The handle was called dead while so many were that a wrong configuration is as likely: it is kept for now.
    case quarantined
    /// The handle was replaced.
    case moved
}
