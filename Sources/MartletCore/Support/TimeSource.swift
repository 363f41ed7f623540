public import MartletModel

/// The time of day, and waiting for it: the clock on the wall in a server, a hand-moved one in tests.
public protocol TimeSource: Sendable {
    var now: Timestamp { get }

    /// Returns at that time or soon after it; at once where it has passed. Returns early where the clock is set back
    /// meanwhile: that time may lie too far ahead then.
    /// - Throws: `CancellationError`.
    func sleep(until timestamp: Timestamp) async throws
}
