public import MartletModel

/// The state of a notification and of its deliveries.
public struct SendStatus: Sendable {
    public var report: NotificationReport
    public var control: NotificationControl
    /// When a control was last requested; nil if no control was ever requested.
    public var controlledAt: Timestamp?
    /// The audience size of a roll-out; nil if it was not counted.
    public var audience: Int?
    /// The pushes that had ended when the roll-out was last resumed. The decision whether the roll-out halts counts
    /// only pushes that have ended since then.
    public var countedFrom: SendCounts
    public var deliveries: [DeliveryStatus]
    /// The state of the canary; nil if the notification is no canary.
    public var canary: CanaryState?
    /// The number of parts that have not begun.
    public var waitingParts: Int
    public var origin: SendOrigin

    public init(
        report: NotificationReport, control: NotificationControl, controlledAt: Timestamp?, audience: Int?,
        countedFrom: SendCounts, deliveries: [DeliveryStatus],
        canary: CanaryState? = nil, waitingParts: Int = 0, origin: SendOrigin = SendOrigin()
    ) {
        self.origin = origin
        self.report = report
        self.control = control
        self.controlledAt = controlledAt
        self.audience = audience
        self.countedFrom = countedFrom
        self.deliveries = deliveries
        self.canary = canary
        self.waitingParts = waitingParts
    }
}

/// The report of one delivery, and the number of pushes that are still to be sent.
public struct DeliveryStatus: Sendable {
    public var report: DeliveryReport
    /// Whether all pages were sent.
    public var isFannedOut: Bool
    /// The number of pushes that have failed and will be tried again.
    public var retrying: Int
    /// The number of pushes that were stopped before their first attempt, for example by a pause, and are still
    /// waiting.
    public var held: Int
    /// The side of a canary that the delivery sends to: the sample or the rest. nil if the notification is no canary.
    public var side: SampleSide?

    public init(
        report: DeliveryReport, isFannedOut: Bool, retrying: Int, held: Int, side: SampleSide? = nil
    ) {
        self.side = side
        self.report = report
        self.isFannedOut = isFannedOut
        self.retrying = retrying
        self.held = held
    }
}
