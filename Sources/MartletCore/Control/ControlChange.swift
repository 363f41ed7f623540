/// What has become of a wish.
public enum ControlChange: Hashable, Sendable {
    /// It holds from now on.
    /// - sequence: That of the notification.
    /// - open: Its deliveries that are not final.
    case done(NotificationControl, sequence: Int64, open: [Delivery.ID])
    /// The hub has no notification of this id.
    case notFound
    /// The notification is over.
    case ended
}
