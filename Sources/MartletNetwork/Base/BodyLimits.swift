/// Limits of the memory for bodies of requests that have not been answered yet, in bytes. `ServerLimits.answers` uses
/// the same type for answers that clients have not read.
///
/// If the limits leave no memory for a body, the server does not read the body. The body waits up to `patience`. If
/// there is still no memory then, the server answers the request with 503.
public struct BodyLimits: Hashable, Sendable {
    /// The limit for the bodies of all identified callers together.
    public var total = 64 << 20
    /// The limit for the bodies of one identified caller.
    public var caller = 16 << 20
    /// The limit for the bodies of all callers of one hub, so that no hub can use all the memory. The users of the app
    /// backend together have the same limit as one hub.
    public var scope = 32 << 20
    /// The limit for the bodies of one connection.
    public var connection = 16 << 20
    /// The limit for the bodies of all unidentified senders together. They are counted separately from `total`, so that
    /// unidentified senders take no memory from identified callers.
    public var strangers = 16 << 20
    /// The limit for the bodies of unidentified senders on one network. Senders on this machine may use all of
    /// `strangers`.
    public var network = 1 << 20
    /// The number of bytes that unidentified senders may use on one connection without a charge to `network` or
    /// `strangers`. A small request therefore need not wait when these limits are used up.
    public var free = 4 << 10
    /// The maximum time for which a body waits for memory.
    public var patience: Duration = .seconds(5)
    /// The maximum number of answers that may wait for memory. Further answers are refused at once.
    public var waiting = 1000
    /// The interval at which a waiting body tries again to get memory.
    public var retryInterval: Duration = .milliseconds(50)

    /// The value of `Retry-After` in the 503 response, in seconds.
    static let retryAfter = 5

    public init() {}

    /// Creates limits whose sizes, except `free`, follow from `total`.
    /// - Parameter total: The limit for the bodies of all identified callers together, in bytes. It must be at least
    ///   `leastTotal`, so that the longest allowed body fits into the share of one caller.
    public init(total: Int) {
        self.total = total
        caller = total / 4
        scope = total / 2
        connection = total / 4
        strangers = total / 4
        network = max(256 << 10, total / 64)
    }

    /// The minimum `total` with which every valid request can be served.
    public static let leastTotal = 40 << 20
}
