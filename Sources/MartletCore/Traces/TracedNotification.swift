public import MartletModel

/// A notification with its progress on each platform.
public struct TracedNotification: Sendable {
    public var notification: Notification
    /// When its deliveries were created; nil while it is scheduled.
    public var begunAt: Timestamp?
    public var control: NotificationControl
    /// When the control was last requested; nil if never.
    public var controlledAt: Timestamp?
    /// In the order of their ids.
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

    /// When the notification, or the rest of it, was canceled.
    public var canceledAt: Timestamp? { control == .canceled ? controlledAt : nil }
}
