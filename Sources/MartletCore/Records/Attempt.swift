public import MartletModel

/// A stored attempt of a push. An attempt is stored if it failed and could be tried again, if it is a retry that ended
/// without a refusal, or if the push service has replaced the handle.
public struct Attempt: Hashable, Sendable {
    public var member: AudienceMember
    /// The number of the attempt, starting at 1. An attempt that failed for a reason outside the push, such as a
    /// refused credential, has the same number as the attempt after it.
    public var number: Int
    public var outcome: OutcomeName
    /// The reason in the push service's own words; empty for a success.
    public var reason: String
    /// The push service's answer; nil if no request was sent.
    public var answer: PushAnswer?
    /// The time when the answer was received, or when the attempt was given up.
    public var at: Timestamp
    public var fate: HandleFate
    /// The channel at which the push succeeded, if the member's registration had moved to that channel; nil if the push
    /// went to the member's own channel, or failed.
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
    /// The status of the answer; nil if no answer was received.
    public var status: Int?
    /// The number of the connection within this process, from 1. Nil if nothing was sent, or if the answer was a plain
    /// success (`PlainSuccess`): plain successes are only counted, without their connections.
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
    /// The push service reported the handle as gone, and the handle was removed.
    case removed
    /// The push service reported the handle as gone, but the handle is kept for now, because so many handles were
    /// reported that a wrong configuration may be the cause.
    case quarantined
    /// The push service replaced the handle with another one.
    case moved
}
