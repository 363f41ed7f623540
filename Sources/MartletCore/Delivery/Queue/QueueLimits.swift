/// How many pages are sent at a time, and how much of the backlog is in memory. All defaults are here.
public struct QueueLimits: Sendable {
    /// The most first pages that are sent at the same time.
    public var firstPages: Int
    /// The most further pages and rounds of retries that are sent at the same time.
    public var furtherPages: Int
    /// The most deliveries that wait in memory; any others wait in the store only.
    public var waiting: Int
    /// The number of waiting deliveries that any hub has room for, whatever the backlog of others.
    public var waitingOfAnyHub: Int
    /// The most waiting deliveries that are held with their content; for the others it is read when their turn comes.
    public var held: Int
    /// The most memory of the held content, in bytes.
    public var heldBytes: Int

    public init(
        firstPages: Int = 192, furtherPages: Int = 32, waiting: Int = 65_536, waitingOfAnyHub: Int = 64,
        held: Int = 4096, heldBytes: Int = 64 << 20
    ) {
        self.firstPages = firstPages
        self.furtherPages = furtherPages
        self.waiting = waiting
        self.waitingOfAnyHub = waitingOfAnyHub
        self.held = held
        self.heldBytes = heldBytes
    }
}
