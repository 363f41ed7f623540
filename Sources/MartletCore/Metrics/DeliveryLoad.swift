/// The deliveries that a dispatcher holds in memory, by what they do.
public struct DeliveryLoad: Sendable, Equatable {
    public var running: Int
    /// Ready to run.
    public var waiting: Int
    /// Until a retry is due or a paused lane may be open.
    public var sleeping: Int

    public init(running: Int, waiting: Int, sleeping: Int) {
        self.running = running
        self.waiting = waiting
        self.sleeping = sleeping
    }
}
