/// How much may be accepted and not finished: beyond it new sends are refused until some of it is.
public struct BacklogLimits: Hashable, Sendable {
    /// What an operator may ask for.
    public static let allowed = 1...10_000_000

    /// Bytes of content for each notification that may wait. Most are smaller, so this meets who sends large ones.
    private static let bytesEach: Int64 = 4096
    /// However few notifications may wait, some of the largest may.
    private static let fewestBytes: Int64 = 1 << 20
    /// Hubs that may have their usual backlog at the same time.
    private static let hubs = 10

    /// What the hub may have.
    private let own: BacklogSize
    /// What all hubs may have together.
    private let all: BacklogSize

    /// - Parameters:
    ///   - notifications: The most of the hub.
    ///   - usual: The most of a hub of which nothing else is said.
    public init(notifications: Int, standard: Int) {
        own = Self.size(notifications)
        all = Self.size(max(standard, notifications) * Self.hubs)
    }

    private static func size(_ notifications: Int) -> BacklogSize {
        BacklogSize(notifications: notifications, bytes: max(Int64(notifications) * bytesEach, fewestBytes))
    }

    /// Why one more is refused; nil where it is not.
    ///
    /// No hub may have more than what all hubs together leave free: the nearer the whole is to its limit, the smaller a
    /// backlog must be to grow. So there is room for a hub that has little, however many have too much.
    /// - Parameters:
    ///   - hub: What the hub has.
    ///   - used: What all hubs have.
    ///   - bytes: Of the content of the new one.
    public func excess(hub: BacklogSize, all used: BacklogSize, adding bytes: Int64) -> BacklogExcess? {
        if hub.notifications >= own.notifications || hub.bytes + bytes > own.bytes { return .hub }
        let isOver =
            hub.notifications >= all.notifications - used.notifications || hub.bytes + bytes > all.bytes - used.bytes
        return isOver ? .all : nil
    }
}

/// How much is accepted and not finished.
public struct BacklogSize: Hashable, Sendable {
    public var notifications: Int
    /// Of their contents.
    public var bytes: Int64

    public init(notifications: Int, bytes: Int64) {
        self.notifications = notifications
        self.bytes = bytes
    }
}

/// Whose backlog is too large.
public enum BacklogExcess: Hashable, Sendable {
    case hub
    /// The hub has more than its share of what all may have.
    case all

    /// Seconds after which some of it may be finished.
    public static let retryAfter = 10

    /// For the sender, without its full stop.
    public var sentence: String {
        switch self {
        case .hub: "The hub has as many unfinished notifications as it may have; try again when some are delivered"
        case .all: "The server has too many unfinished notifications for this hub to add to them; try again later"
        }
    }
}
