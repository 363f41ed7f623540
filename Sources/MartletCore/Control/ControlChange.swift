/// The result of a control request.
public enum ControlChange: Hashable, Sendable {
    /// The control is now in force.
    /// - sequence: The sequence number of the notification.
    /// - open: The deliveries of the notification that have not ended.
    case done(NotificationControl, sequence: Int64, open: [Delivery.ID])
    /// The hub has no notification with this id.
    case notFound
    /// The notification has ended, so its control cannot change any more.
    case ended
}
