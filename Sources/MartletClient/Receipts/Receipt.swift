import MartletModel

/// A device's report that it received a notification, or that its user opened the notification.
struct Receipt: Hashable, Sendable {
    enum Event: String, Sendable {
        case received, opened
    }

    let notification: String
    let event: Event
    let at: Timestamp
    /// The id of the registration that received the notification.
    let device: String
}
