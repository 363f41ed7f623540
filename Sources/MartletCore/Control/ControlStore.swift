public import MartletModel

/// Stores the controls of notifications and the state of roll-outs. Every change is durable when the call returns.
public protocol ControlStore: Sendable {
    /// Changes the control of a notification according to `NotificationControl.after`. Canceling a scheduled
    /// notification ends it. After a roll-out is resumed, its failures are counted from zero again.
    func control(
        _ wish: ControlRequest, _ id: NotificationID, in hub: Hub.ID, at now: Timestamp
    ) async throws(StorageError) -> ControlChange

    /// The notifications that have not ended and are not simply running.
    func controlled() async throws(StorageError) -> [ControlledNotification]

    /// Whether a notification has ended, or was deleted with its hub.
    func hasEnded(_ sequence: Int64) async throws(StorageError) -> Bool

    /// Stores the audience size of a roll-out, unless it is known already.
    /// - Returns: The stored size; nil if the notification is gone.
    func setAudience(_ count: Int, ofRollout sequence: Int64) async throws(StorageError) -> Int?

    /// The stored state of a roll-out; nil if the notification is gone.
    func record(ofRollout sequence: Int64) async throws(StorageError) -> RolloutRecord?

    /// The state of a notification; nil if the hub has none with this id.
    func status(_ id: NotificationID, in hub: Hub.ID) async throws(StorageError) -> SendStatus?
}

/// The state of a roll-out, stored so that a restart neither speeds it up nor stalls it.
public struct RolloutRecord: Hashable, Sendable {
    /// The audience size; nil if it was not counted.
    public var audience: Int?
    /// When the last page, or the last round of retries, began; nil if nothing has been sent yet.
    public var lastSentAt: Timestamp?

    public init(audience: Int?, lastSentAt: Timestamp?) {
        self.audience = audience
        self.lastSentAt = lastSentAt
    }
}

/// A notification that is not simply running.
public struct ControlledNotification: Hashable, Sendable {
    /// The sequence number of the notification.
    public var notification: Int64
    public var hub: Hub.ID
    public var control: NotificationControl

    public init(notification: Int64, hub: Hub.ID, control: NotificationControl) {
        self.notification = notification
        self.hub = hub
        self.control = control
    }
}
