public import MartletModel

/// A device's word of what became of a notification there.
public struct Receipt: Hashable, Sendable {
    /// What it is of.
    public enum Subject: Hashable, Sendable {
        /// A payload that the user is an addressee of.
        case payload(PayloadID)
        /// A notification of the hub that the device was in the audience of.
        case notification(NotificationID)
    }

    public enum Event: String, Hashable, Sendable {
        case received
        case opened
    }

    public var subject: Subject
    public var event: Event
    /// By the device's clock.
    public var at: Timestamp

    public init(subject: Subject, event: Event, at: Timestamp) {
        self.subject = subject
        self.event = event
        self.at = at
    }
}

/// Who sends receipts.
public struct ReceiptSource: Sendable {
    public var hub: Hub.ID
    /// The id of the registration.
    public var device: String
    /// The folded name of the user whose device it is to be,
    public var user: String
    /// and the tag that makes it so.
    public var tag: Tag

    public init(hub: Hub.ID, device: String, user: String, tag: Tag) {
        self.hub = hub
        self.device = device
        self.user = user
        self.tag = tag
    }
}

/// A receipt as it is kept.
public struct DeviceReceipt: Hashable, Sendable {
    /// The id of the registration.
    public var device: String
    /// The folded name of the user whose device it was.
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
