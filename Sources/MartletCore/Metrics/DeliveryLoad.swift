/// The number of deliveries that a dispatcher has in memory, by state.
public struct DeliveryLoad: Sendable, Equatable {
    public var running: Int
    /// Deliveries that are ready to run.
    public var waiting: Int
    /// Deliveries that wait for a due retry or for the end of a pause.
    public var sleeping: Int

    public init(running: Int, waiting: Int, sleeping: Int) {
        self.running = running
        self.waiting = waiting
        self.sleeping = sleeping
    }
}
