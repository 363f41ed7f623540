public import MartletModel

/// A notification with how far it has come on each platform.
public struct TracedNotification: Sendable {
    public var notification: Notification
    /// When its deliveries were made; nil while it waits for its time.
    public var begunAt: Timestamp?
    public var control: NotificationControl
    /// When that was requested last; nil where nobody has.
    public var controlledAt: Timestamp?
    /// In their order.
    public var deliveries: [DeliveryProgress]

    public init(
        notification: Notification, begunAt: Timestamp?, control: NotificationControl = .running,
        controlledAt: Timestamp? = nil, deliveries: [DeliveryProgress]
    ) {
        self.notification = notification
        self.begunAt = begunAt
        self.control = control
        self.controlledAt = controlledAt
        self.deliveries = deliveries
    }

    /// When it was withdrawn, or what was left of it.
    public var canceledAt: Timestamp? { control == .canceled ? controlledAt : nil }
}
