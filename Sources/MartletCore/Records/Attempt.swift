public import MartletModel

/// One attempt at a push that was not its first and last: one that is followed by a retry, or that a retry was.
public struct Attempt: Hashable, Sendable {
    public var member: AudienceMember
    /// From 1; one that failed for no reason of its own, such as a refused credential, has the number of the next.
    public var number: Int
    public var outcome: OutcomeName
    /// The service's own word; empty for a success.
    public var reason: String
    /// nil where nothing was sent, because it would have been in vain.
    public var answer: PushAnswer?
    /// When it was answered, or not made.
    public var at: Timestamp
    public var fate: HandleFate

    public init(
        member: AudienceMember, number: Int, outcome: OutcomeName, reason: String, answer: PushAnswer?, at: Timestamp,
        fate: HandleFate = .kept
    ) {
        self.member = member
        self.number = number
        self.outcome = outcome
        self.reason = reason
        self.answer = answer
        self.at = at
        self.fate = fate
    }
}

/// Where a push was sent to and how that answered.
public struct PushAnswer: Hashable, Sendable {
    /// Scheme, host and port.
    public var origin: String
    /// nil where no answer came.
    public var status: Int?
    /// Which connection of the server's process it went over, from 1; nil where it was not sent, or was a plain success.
    public var connection: Int?

    public init(origin: String, status: Int?, connection: Int? = nil) {
        self.origin = origin
        self.status = status
        self.connection = connection
    }
}

/// What an answer of a push service means for the handle of a device.
public enum HandleFate: String, Hashable, Sendable {
    case kept
    /// It was called dead, and believed.
    case removed
    /// It was called dead while so many were that a wrong configuration is as likely: it is kept for now.
    case quarantined
    /// It was replaced by another.
    case moved
}
