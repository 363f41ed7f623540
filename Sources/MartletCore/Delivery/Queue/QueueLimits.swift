/// Limits how many pages are sent at the same time, and how much of the backlog is kept in memory. All defaults of
/// these limits are defined here.
public struct QueueLimits: Sendable {
    /// The maximum number of first pages that are sent at the same time.
    public var firstPages: Int
    /// The maximum number of further pages and rounds of retries that are sent at the same time.
    public var furtherPages: Int
    /// The maximum number of deliveries that wait in memory; any others wait only in the store.
    public var waiting: Int
    /// The number of waiting deliveries that every hub may have in memory, regardless of the backlog of other hubs.
    public var waitingOfAnyHub: Int
    /// The maximum number of waiting deliveries that are kept in memory with their content. The content of every other
    /// delivery is read from the store when its turn comes.
    public var held: Int
    /// The maximum memory for the content of waiting deliveries, in bytes.
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
