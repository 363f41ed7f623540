public import MartletModel

/// A notification with its progress on each platform.
public struct TracedNotification: Sendable {
    public var notification: Notification
    /// When the deliveries of the notification were created; nil while the notification is scheduled.
    public var begunAt: Timestamp?
    public var control: NotificationControl
    /// When the control was last requested; nil if never.
    public var controlledAt: Timestamp?
    /// The deliveries, in the order of their ids.
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

    /// When the notification, or the remainder of it, was canceled; nil if it was not.
    public var canceledAt: Timestamp? { control == .canceled ? controlledAt : nil }
}
