public import MartletModel

/// Keeps what is requested of notifications, and the state of their roll-outs. Every verb is durable when it returns.
public protocol ControlStore: Sendable {
    /// Changes what is requested of a notification, as `NotificationControl.after` says. One that waits for its time is
    /// over when it is canceled. A resumed roll-out counts failures again.
    func control(
        _ wish: ControlRequest, _ id: NotificationID, in hub: Hub.ID, at now: Timestamp
    ) async throws(StorageError) -> ControlChange

    /// The notifications that are not over and not simply running.
    func controlled() async throws(StorageError) -> [ControlledNotification]

    /// Whether a notification is over, or gone with its hub.
    func hasEnded(_ sequence: Int64) async throws(StorageError) -> Bool

    /// Keeps how many devices a roll-out is for, unless that is known.
    /// - Returns: What is known now; nil where the notification is gone.
    func setAudience(_ count: Int, ofRollout sequence: Int64) async throws(StorageError) -> Int?

    /// What is kept of a roll-out beside its pace; nil where the notification is gone.
    func record(ofRollout sequence: Int64) async throws(StorageError) -> RolloutRecord?

    /// The state of a notification.
    func status(_ id: NotificationID, in hub: Hub.ID) async throws(StorageError) -> SendStatus?
}

/// What is kept of a roll-out, so that a restart neither hurries nor stalls it.
public struct RolloutRecord: Hashable, Sendable {
    /// How many devices it is for, where they were counted.
    public var audience: Int?
    /// When the last page, or the last round of retries, began; nil where nothing has been sent yet.
    public var lastSentAt: Timestamp?

    public init(audience: Int?, lastSentAt: Timestamp?) {
        self.audience = audience
        self.lastSentAt = lastSentAt
    }
}

/// A notification that is not simply running.
public struct ControlledNotification: Hashable, Sendable {
    /// Its sequence number.
    public var notification: Int64
    public var hub: Hub.ID
    public var control: NotificationControl

    public init(notification: Int64, hub: Hub.ID, control: NotificationControl) {
        self.notification = notification
        self.hub = hub
        self.control = control
    }
}
