public import MartletModel

/// The time of day, and sleeping until a time: the wall clock in a server, a manual clock in tests.
public protocol TimeSource: Sendable {
    var now: Timestamp { get }

    /// Sleeps until a time; returns at once if it has passed. Returns early if the clock is set back meanwhile, because
    /// the time may then lie too far ahead.
    /// - Throws: `CancellationError`.
    func sleep(until timestamp: Timestamp) async throws
}
