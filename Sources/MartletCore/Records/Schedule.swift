public import MartletModel

/// Selects scheduled notifications of a hub.
public struct ScheduleQuery: Sendable {
    public var hub: Hub.ID
    /// The earliest due time of the selected notifications; nil for any time.
    public var from: Timestamp?
    /// The time before which the selected notifications are due; nil for any time.
    public var to: Timestamp?
    /// The position at which the previous page ended; nil for the first page.
    public var after: SchedulePosition?
    /// The maximum number of notifications in a page.
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

/// A position in the order of scheduled notifications: by due time, then by sequence number.
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
    /// The control of the notification. A paused notification does not begin at its due time.
    public var control: NotificationControl

    public init(notification: Notification, control: NotificationControl) {
        self.notification = notification
        self.control = control
    }

    public var position: SchedulePosition {
        SchedulePosition(dueAt: notification.dueAt ?? notification.acceptedAt, sequence: notification.sequence)
    }
}
