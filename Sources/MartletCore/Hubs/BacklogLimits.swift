/// How many notifications may be unfinished: beyond this, new sends are refused until some of them are finished.
public struct BacklogLimits: Hashable, Sendable {
    /// The limits that an operator may set.
    public static let allowed = 1...10_000_000

    /// Bytes of content for each notification of the limit. Most notifications are smaller, so this affects only
    /// senders of large ones.
    private static let bytesEach: Int64 = 4096
    /// The lowest limit in bytes, so that some of the largest notifications fit in any case.
    private static let fewestBytes: Int64 = 1 << 20
    /// The number of hubs that may have their default backlog at the same time.
    private static let hubs = 10

    /// The limit of the hub.
    private let own: BacklogSize
    /// The limit of all hubs together.
    private let all: BacklogSize

    /// - Parameters:
    ///   - notifications: The limit of the hub.
    ///   - standard: The limit of a hub without a limit of its own.
    public init(notifications: Int, standard: Int) {
        own = Self.size(notifications)
        all = Self.size(max(standard, notifications) * Self.hubs)
    }

    private static func size(_ notifications: Int) -> BacklogSize {
        BacklogSize(notifications: notifications, bytes: max(Int64(notifications) * bytesEach, fewestBytes))
    }

    /// Why one more notification is refused; nil if it is accepted.
    ///
    /// No hub may have more than what all hubs together leave free: the nearer the total is to its limit, the smaller a
    /// backlog must be to grow. So a hub with a small backlog has room, however many hubs have a large one.
    /// - Parameters:
    ///   - hub: The backlog of the hub.
    ///   - used: The backlog of all hubs.
    ///   - bytes: The size of the new content.
    public func excess(hub: BacklogSize, all used: BacklogSize, adding bytes: Int64) -> BacklogExcess? {
        if hub.notifications >= own.notifications || hub.bytes + bytes > own.bytes { return .hub }
        let isOver =
            hub.notifications >= all.notifications - used.notifications || hub.bytes + bytes > all.bytes - used.bytes
        return isOver ? .all : nil
    }
}

/// The size of a backlog.
public struct BacklogSize: Hashable, Sendable {
    public var notifications: Int
    /// The size of all contents, in bytes.
    public var bytes: Int64

    public init(notifications: Int, bytes: Int64) {
        self.notifications = notifications
        self.bytes = bytes
    }
}

/// Which limit a backlog has reached.
public enum BacklogExcess: Hashable, Sendable {
    case hub
    /// The hub has more than what all hubs together leave free.
    case all

    /// Seconds after which some of the backlog may be finished.
    public static let retryAfter = 10

    /// A sentence for the sender, without its full stop.
    public var sentence: String {
        switch self {
        case .hub: "The hub has as many unfinished notifications as it may have; try again when some are delivered"
        case .all: "The server has too many unfinished notifications for this hub to add to them; try again later"
        }
    }
}
