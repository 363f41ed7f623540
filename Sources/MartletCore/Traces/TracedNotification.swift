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
    /// Whether a part of the notification has not begun.
    public var hasWaitingParts: Bool
    public var origin: SendOrigin

    public init(
        notification: Notification, begunAt: Timestamp?, control: NotificationControl = .running,
        controlledAt: Timestamp? = nil, deliveries: [DeliveryProgress], hasWaitingParts: Bool = false,
        origin: SendOrigin = SendOrigin()
    ) {
        self.origin = origin
        self.notification = notification
        self.begunAt = begunAt
        self.control = control
        self.controlledAt = controlledAt
        self.deliveries = deliveries
        self.hasWaitingParts = hasWaitingParts
    }

    /// Adds the deliveries to the rest of a canary that are not there yet, as if they had begun and sent nothing.
    mutating func addWaitingRest() {
        guard hasWaitingParts else { return }
        for sample in deliveries.map(\.delivery) where sample.part?.side == .sample {
            let part = DeliveryPart(number: 1, lead: sample.id, side: .rest, threshold: sample.part?.threshold)
            deliveries.append(
                DeliveryProgress(
                    Delivery(
                        id: Delivery.ID(rawValue: -sample.id.rawValue), notification: notification,
                        platform: sample.platform, bounds: sample.bounds, part: part)))
        }
    }

    /// When the notification, or the remainder of it, was canceled; nil if it was not.
    public var canceledAt: Timestamp? { control == .canceled ? controlledAt : nil }
}
