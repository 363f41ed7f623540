public import MartletModel

/// A part of a notification on one platform: a share of the audience that is sent to at its own time.
public struct DeliveryPart: Hashable, Sendable {
    /// The number of the part within its notification, from 0.
    public var number: Int64
    /// The first delivery of the notification on the same platform; nil if the delivery of this part is the first.
    public var lead: Delivery.ID?
    /// The side of a canary that the part is for, the sample or the rest; nil for both.
    public var side: SampleSide?
    /// The highest hash in the sample (`SampleHash`); nil until it is known.
    public var threshold: UInt64?
    /// A second tag expression that registrations of the part must match; nil for the whole audience. Retries do not
    /// evaluate the expression: a device whose tags have changed since its first attempt is still a target.
    public var narrowing: TagExpression?
    /// When undelivered pushes of this part are given up; nil for the expiry of the notification.
    public var expiresAt: Timestamp?

    public init(
        number: Int64, lead: Delivery.ID? = nil, side: SampleSide? = nil, threshold: UInt64? = nil,
        narrowing: TagExpression? = nil, expiresAt: Timestamp? = nil
    ) {
        self.number = number
        self.lead = lead
        self.side = side
        self.threshold = threshold
        self.narrowing = narrowing
        self.expiresAt = expiresAt
    }
}

/// A part of a notification that has not begun.
public struct WaitingPart: Hashable, Sendable {
    /// The number of the part within its notification. Part 0 is a waiting part only if it begins later than the
    /// notification; otherwise its deliveries are created when the notification begins.
    public var number: Int64
    /// The platform; nil for every platform of the notification.
    public var platform: PlatformID?
    /// When the part begins; nil for a part behind a gate, which begins when the gate is opened or when the
    /// notification expires.
    public var dueAt: Timestamp?
    public var side: SampleSide?
    public var narrowing: TagExpression?
    /// When undelivered pushes of the part are given up.
    public var expiresAt: Timestamp

    public init(
        number: Int64, platform: PlatformID? = nil, dueAt: Timestamp? = nil, side: SampleSide? = nil,
        narrowing: TagExpression? = nil, expiresAt: Timestamp
    ) {
        self.number = number
        self.platform = platform
        self.dueAt = dueAt
        self.side = side
        self.narrowing = narrowing
        self.expiresAt = expiresAt
    }

    /// Returns when undelivered pushes are given up, for the deliveries of the part when it begins; nil for the expiry of
    /// the notification.
    ///
    /// A part whose gate was never opened begins when the notification expires, only so that its members are counted. It
    /// stays expired if the clock is set back afterwards, because nobody has released it.
    public func deliveryExpiry(in notification: Notification) -> Timestamp? {
        if dueAt == nil { return Timestamp(milliseconds: 0) }
        return expiresAt == notification.expiresAt ? nil : expiresAt
    }
}
