/// How much runs at a time, and how much of a backlog is in memory. Every default is here.
public struct QueueLimits: Sendable {
    /// First pages that are sent at the same time.
    public var firstPages: Int
    /// Further pages and rounds of retries that are sent at the same time.
    public var furtherPages: Int
    /// Deliveries that wait in memory; more wait in the store alone.
    public var waiting: Int
    /// As many of any one hub find room, whatever waits of others.
    public var waitingOfAnyHub: Int
    /// Those of them that are held with what they bring; of the rest it is read when their turn comes.
    public var held: Int
    /// What they may bring, in bytes.
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
