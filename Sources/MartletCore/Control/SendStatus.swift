public import MartletModel

/// The state and the numbers of a notification.
public struct SendStatus: Sendable {
    public var report: NotificationReport
    public var control: NotificationControl
    /// When the control was last requested; nil if never.
    public var controlledAt: Timestamp?
    /// The audience size of a roll-out; nil if it was not counted.
    public var audience: Int?
    /// The counts at the last resume, from which the halt rule counts.
    public var countedFrom: SendCounts
    public var deliveries: [DeliveryStatus]

    public init(
        report: NotificationReport, control: NotificationControl, controlledAt: Timestamp?, audience: Int?,
        countedFrom: SendCounts, deliveries: [DeliveryStatus]
    ) {
        self.report = report
        self.control = control
        self.controlledAt = controlledAt
        self.audience = audience
        self.countedFrom = countedFrom
        self.deliveries = deliveries
    }
}

/// The state of one delivery.
public struct DeliveryStatus: Sendable {
    public var report: DeliveryReport
    /// Whether all pages were sent.
    public var isFannedOut: Bool
    /// Pushes that have failed and will be tried again.
    public var retrying: Int
    /// Pushes that were suspended before their first attempt.
    public var held: Int

    public init(report: DeliveryReport, isFannedOut: Bool, retrying: Int, held: Int) {
        self.report = report
        self.isFannedOut = isFannedOut
        self.retrying = retrying
        self.held = held
    }
}
