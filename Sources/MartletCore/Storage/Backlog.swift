public import MartletModel

/// The size and age of the backlog: the notifications that are accepted and not finished.
public struct Backlog: Sendable, Equatable {
    /// The number of unfinished deliveries.
    public var deliveries: Int
    /// The earliest time at which one of these deliveries could begin; nil if there is no delivery. It is the time
    /// when the part of the delivery began, else when its notification was due, else when it was accepted.
    public var oldest: Timestamp?

    public init(deliveries: Int, oldest: Timestamp?) {
        self.deliveries = deliveries
        self.oldest = oldest
    }
}

/// The number of parts that wait, and the time when the next of them begins.
public struct WaitingParts: Sendable, Equatable {
    public var count: Int
    /// The time when the next part is due; nil if no part waits, or if every waiting part has a gate.
    public var nextDue: Timestamp?

    public init(count: Int = 0, nextDue: Timestamp? = nil) {
        self.count = count
        self.nextDue = nextDue
    }
}
