public import MartletModel

/// A source of the time of day that can also sleep until a time: the wall clock in a server, a manual clock in tests.
public protocol TimeSource: Sendable {
    var now: Timestamp { get }

    /// Sleeps until a time; returns at once if the time has passed. Returns early if the clock is set back in the
    /// meantime, because the time may then be too far in the future.
    /// - Throws: `CancellationError` if the task is cancelled.
    func sleep(until timestamp: Timestamp) async throws
}
