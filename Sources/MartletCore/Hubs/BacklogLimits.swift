/// Limits the number of unfinished notifications and the size of their content, for one hub and for all hubs together.
/// When a limit is reached, new sends are refused until some notifications are finished.
///
/// A user of the app backend has a share of the hub's backlog, so that one user cannot block all others. An access key
/// has no share: it belongs to the team that runs the hub, and may be the only sender.
public struct BacklogLimits: Hashable, Sendable {
    /// The range of limits that an operator may set, in notifications.
    public static let allowed = 1...10_000_000

    /// The limit in bytes is this number times the limit in notifications. Most notifications are smaller, so the limit
    /// in bytes affects only senders of large notifications.
    private static let bytesEach: Int64 = 4096
    /// The minimum of the limit in bytes, so that a few notifications of the maximum size always fit.
    private static let fewestBytes: Int64 = 1 << 20
    /// The factor from the limit of one hub to the limit of all hubs together. For the sends of a hub, the limit of all
    /// hubs is this number times the hub's own limit, or times the default limit if the default is larger.
    private static let hubs = 10

    /// One of this many parts of the hub's limit is the share of a user.
    private static let shares = 100
    /// The minimum of a user's share in notifications, if that is not more than half of the hub's limit. A message that
    /// is encrypted for each of 100 devices is 100 notifications.
    private static let fewestOfUser = 100
    /// One of this many parts of the hub's limit is not for users, so that the users of a hub together leave room for
    /// its access keys and operators.
    private static let reserves = 10

    /// The maximum backlog of the hub.
    private let own: BacklogSize
    /// The maximum backlog of the hub at which a user may add a notification.
    private let users: BacklogSize
    /// The maximum backlog of one user in the hub.
    private let user: BacklogSize
    /// The maximum backlog of all hubs together, which applies to the sends of this hub.
    private let all: BacklogSize

    /// Computes the limits of a hub.
    /// - Parameters:
    ///   - notifications: The limit of the hub, as a number of notifications.
    ///   - standard: The default limit, for hubs without a limit of their own.
    public init(notifications: Int, standard: Int) {
        let own = Self.size(notifications)
        let share = Self.size(max(notifications / Self.shares, Self.fewestOfUser))
        self.own = own
        users = BacklogSize(
            notifications: own.notifications - own.notifications / Self.reserves,
            bytes: own.bytes - own.bytes / Int64(Self.reserves))
        user = BacklogSize(
            notifications: min(share.notifications, max(own.notifications / 2, 1)),
            bytes: min(share.bytes, own.bytes / 2))
        all = Self.size(max(standard, notifications) * Self.hubs)
    }

    private static func size(_ notifications: Int) -> BacklogSize {
        BacklogSize(notifications: notifications, bytes: max(Int64(notifications) * bytesEach, fewestBytes))
    }

    /// Returns the limit that refuses one more notification; nil if the notification is accepted.
    ///
    /// A hub may add a notification only if its backlog is below its own limit, and also below the free part of the
    /// limit of all hubs. So as the total approaches the limit of all hubs, only hubs with ever smaller backlogs may
    /// add a notification. A hub with a small backlog has room regardless of how many hubs have a large one.
    ///
    /// A user may add a notification only if the user's own backlog in the hub is below a user's share, and the hub's
    /// is below the part of its limit that is for users.
    /// - Parameters:
    ///   - hub: The backlog of the hub.
    ///   - used: The backlog of all hubs.
    ///   - sender: The backlog of the user of the app backend who sends, in this hub; nil if the sender is not a user.
    ///   - bytes: The size of the new content, in bytes.
    public func excess(
        hub: BacklogSize, all used: BacklogSize, user sender: BacklogSize? = nil, adding bytes: Int64
    ) -> BacklogExcess? {
        if let sender, !sender.hasRoom(for: bytes, below: user) { return .user }
        guard hub.hasRoom(for: bytes, below: sender == nil ? own : users) else { return .hub }
        let isOver =
            hub.notifications >= all.notifications - used.notifications || hub.bytes + bytes > all.bytes - used.bytes
        return isOver ? .all : nil
    }
}

/// The size of a backlog: the number of its notifications and of the bytes of their content.
public struct BacklogSize: Hashable, Sendable {
    public var notifications: Int
    /// The total size of the content of these notifications, in bytes.
    public var bytes: Int64

    public init(notifications: Int, bytes: Int64) {
        self.notifications = notifications
        self.bytes = bytes
    }

    fileprivate func hasRoom(for added: Int64, below limit: BacklogSize) -> Bool {
        notifications < limit.notifications && bytes + added <= limit.bytes
    }
}

/// The limit that a backlog has reached.
public enum BacklogExcess: Hashable, Sendable {
    case hub
    /// The user of the app backend has as many unfinished notifications in the hub as one user may have.
    case user
    /// The limit of all hubs together leaves no room: the backlog of this hub is at least as large as the free part of
    /// that limit.
    case all

    /// The value of `Retry-After`, in seconds: some notifications of the backlog may be finished by then.
    public static let retryAfter = 10

    /// A sentence for the sender, without its full stop.
    public var sentence: String {
        switch self {
        case .hub: "The hub has as many unfinished notifications as it may have; try again when some are delivered"
        case .user: "You have as many unfinished notifications as one user may have; try again when some are delivered"
        case .all: "The server has too many unfinished notifications for this hub to add to them; try again later"
        }
    }
}
