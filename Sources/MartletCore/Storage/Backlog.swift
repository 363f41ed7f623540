public import MartletModel

/// The size and age of the backlog: the notifications that are accepted and not finished.
public struct Backlog: Sendable, Equatable {
    /// The number of unfinished deliveries.
    public var deliveries: Int
    /// The number of notifications that these deliveries belong to.
    public var notifications: Int
    /// The earliest time at which one of these deliveries could begin; nil if there is no delivery. For each delivery,
    /// this is the time when its part began; without a part, when its notification was due; for a notification without
    /// a due time, when it was accepted.
    public var oldest: Timestamp?

    public init(deliveries: Int, notifications: Int, oldest: Timestamp?) {
        self.deliveries = deliveries
        self.notifications = notifications
        self.oldest = oldest
    }
}

/// The number of waiting parts of notifications, and the time when the next part begins.
public struct WaitingParts: Sendable, Equatable {
    public var count: Int
    /// The time when the next part is due; nil if no part waits, or if every waiting part has a gate.
    public var nextDue: Timestamp?

    public init(count: Int = 0, nextDue: Timestamp? = nil) {
        self.count = count
        self.nextDue = nextDue
    }
}

/// The pushes of one platform of a hub that are tried again later.
public struct WaitingRetries: Sendable, Equatable {
    public var pushes: Int
    /// The number of notifications that these pushes belong to.
    public var notifications: Int
    /// When the first of these notifications expires.
    public var firstExpiry: Timestamp
    /// When the first of these pushes is due. This time may be in the past while the lane is paused.
    public var nextDue: Timestamp
    /// Whether there may be more pushes, because the limit was reached.
    public var isPartial: Bool

    public init(pushes: Int, notifications: Int, firstExpiry: Timestamp, nextDue: Timestamp, isPartial: Bool) {
        self.pushes = pushes
        self.notifications = notifications
        self.firstExpiry = firstExpiry
        self.nextDue = nextDue
        self.isPartial = isPartial
    }
}
