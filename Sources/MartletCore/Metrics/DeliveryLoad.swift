/// The number of deliveries that the dispatcher has in memory, by state.
public struct DeliveryLoad: Sendable, Equatable {
    public var running: Int
    /// The number of deliveries that are ready to run.
    public var waiting: Int
    /// The number of deliveries that wait until a retry is due or a pause ends.
    public var sleeping: Int

    public init(running: Int, waiting: Int, sleeping: Int) {
        self.running = running
        self.waiting = waiting
        self.sleeping = sleeping
    }
}
