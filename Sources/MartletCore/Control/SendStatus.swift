public import MartletModel

/// The state of a notification, in numbers.
public struct SendStatus: Sendable {
    public var report: NotificationReport
    public var control: NotificationControl
    /// When that was requested last; nil where nobody has.
    public var controlledAt: Timestamp?
    /// The devices of a roll-out, where they were counted.
    public var audience: Int?
    /// What had ended when it was resumed last: the halting rule counts from there.
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
    /// Whether everybody's turn has come.
    public var isFannedOut: Bool
    /// Pushes that were tried and are tried again.
    public var retrying: Int
    /// Pushes that were held back before they were sent.
    public var held: Int

    public init(report: DeliveryReport, isFannedOut: Bool, retrying: Int, held: Int) {
        self.report = report
        self.isFannedOut = isFannedOut
        self.retrying = retrying
        self.held = held
    }
}
