public import MartletModel

/// Selects scheduled notifications of a hub.
public struct ScheduleQuery: Sendable {
    public var hub: Hub.ID
    /// The earliest due time; nil for any.
    public var from: Timestamp?
    /// Only those that are due before this time; nil for any.
    public var to: Timestamp?
    /// Only those after this one, which ended the page before.
    public var after: SchedulePosition?
    /// The most notifications.
    public var limit: Int

    public init(
        hub: Hub.ID, from: Timestamp? = nil, to: Timestamp? = nil, after: SchedulePosition? = nil, limit: Int
    ) {
        self.hub = hub
        self.from = from
        self.to = to
        self.after = after
        self.limit = limit
    }
}

/// A place in the order of scheduled notifications.
public struct SchedulePosition: Hashable, Comparable, Sendable {
    public var dueAt: Timestamp
    /// The sequence number of the notification.
    public var sequence: Int64

    public init(dueAt: Timestamp, sequence: Int64) {
        self.dueAt = dueAt
        self.sequence = sequence
    }

    public static func < (left: SchedulePosition, right: SchedulePosition) -> Bool {
        (left.dueAt, left.sequence) < (right.dueAt, right.sequence)
    }
}

/// A notification that has not begun.
public struct ScheduledNotification: Sendable {
    public var notification: Notification
    /// Running, or paused: then it does not begin at its time.
    public var control: NotificationControl

    public init(notification: Notification, control: NotificationControl) {
        self.notification = notification
        self.control = control
    }

    public var position: SchedulePosition {
        SchedulePosition(dueAt: notification.dueAt ?? notification.acceptedAt, sequence: notification.sequence)
    }
}
