/// How much memory the bodies of requests may use that are not answered yet, in bytes.
///
/// A body that finds no room is not read. It waits for `patience`, then its request is answered with 503.
public struct BodyLimits: Hashable, Sendable {
    /// All bodies of known callers together.
    public var total = 64 << 20
    /// The bodies of one known caller.
    public var caller = 16 << 20
    /// The bodies of all callers of one hub, or of the app backend's users: none of these can take all memory.
    public var scope = 32 << 20
    /// The bodies of one connection.
    public var connection = 16 << 20
    /// All bodies whose sender is not known, besides `total`: strangers take nothing from known callers.
    public var strangers = 16 << 20
    /// The bodies from one network whose sender is not known. This machine may use all of `strangers`.
    public var network = 1 << 20
    /// What each connection has besides, before its network is charged: an ordinary request always has room.
    public var free = 4 << 10
    /// How long a body waits for room.
    public var patience: Duration = .seconds(5)
    /// How often it looks whether there is room.
    public var retryInterval: Duration = .milliseconds(50)

    /// What a refused caller is asked to wait, in seconds.
    static let retryAfter = 5

    public init() {}

    /// Everything in proportion to the memory for the bodies of known callers.
    /// - Parameter total: At least `leastTotal`, so that the longest body fits into the share of its caller.
    public init(total: Int) {
        self.total = total
        caller = total / 4
        scope = total / 2
        connection = total / 4
        strangers = total / 4
        network = max(256 << 10, total / 64)
    }

    /// The least memory in which every request can be served.
    public static let leastTotal = 40 << 20
}
