public import MartletModel

/// A notification with its progress on each platform.
public struct TracedNotification: Sendable {
    public var notification: Notification
    /// The time when the notification began, and its deliveries were created; nil while the notification is scheduled.
    public var begunAt: Timestamp?
    public var control: NotificationControl
    /// The time when the control was last requested; nil if never.
    public var controlledAt: Timestamp?
    /// The deliveries, in the order of their ids.
    public var deliveries: [DeliveryProgress]
    /// True if a part of the notification has not begun.
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

    /// Adds the deliveries of a canary's rest that do not exist yet, as if they had begun and sent nothing.
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

    /// True if all deliveries of the notification have a final state and no part waits.
    var hasEnded: Bool { begunAt != nil && !hasWaitingParts && deliveries.allSatisfy(\.state.isFinal) }

    /// The time when the notification was canceled, before it began or while it was being sent; nil if it was not
    /// canceled.
    public var canceledAt: Timestamp? { control == .canceled ? controlledAt : nil }
}
