public import MartletModel

/// A notification with how far it has come on each platform.
public struct TracedNotification: Sendable {
    public var notification: Notification
    /// When its deliveries were made; nil while it waits for its time.
    public var begunAt: Timestamp?
    /// When it was withdrawn.
    public var canceledAt: Timestamp?
    /// In their order.
    public var deliveries: [DeliveryProgress]

    public init(
        notification: Notification, begunAt: Timestamp?, canceledAt: Timestamp?, deliveries: [DeliveryProgress]
    ) {
        self.notification = notification
        self.begunAt = begunAt
        self.canceledAt = canceledAt
        self.deliveries = deliveries
    }
}
