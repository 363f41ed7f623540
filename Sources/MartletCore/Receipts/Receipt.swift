public import MartletModel

/// A device's report that it received a notification, or that the notification was opened on it.
public struct Receipt: Hashable, Sendable {
    /// The subject of a receipt: a payload or a notification.
    public enum Subject: Hashable, Sendable {
        /// A payload that is addressed to the user.
        case payload(PayloadID)
        /// A notification of the hub whose audience contains the device.
        case notification(NotificationID)
    }

    public enum Event: String, Hashable, Sendable {
        case received
        case opened
    }

    public var subject: Subject
    public var event: Event
    /// The time of the event, according to the device's clock.
    public var at: Timestamp

    public init(subject: Subject, event: Event, at: Timestamp) {
        self.subject = subject
        self.event = event
        self.at = at
    }
}

/// The device and user that send receipts.
public struct ReceiptSource: Sendable {
    public var hub: Hub.ID
    /// The id of the registration.
    public var device: String
    /// The name, in lower case, of the user to whom the device must belong.
    public var user: String
    /// The tag that proves that the device belongs to the user.
    public var tag: Tag

    public init(hub: Hub.ID, device: String, user: String, tag: Tag) {
        self.hub = hub
        self.device = device
        self.user = user
        self.tag = tag
    }
}

/// A receipt as it is stored, with its device and its user.
public struct DeviceReceipt: Hashable, Sendable {
    /// The id of the registration.
    public var device: String
    /// The name, in lower case, of the user to whom the device belonged.
    public var user: String
    public var event: Receipt.Event
    public var at: Timestamp

    public init(device: String, user: String, event: Receipt.Event, at: Timestamp) {
        self.device = device
        self.user = user
        self.event = event
        self.at = at
    }
}
