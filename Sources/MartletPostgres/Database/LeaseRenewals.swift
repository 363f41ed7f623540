import Synchronization

/// The start time of the last successful renewal of this node's lease.
final class LeaseRenewals: Sendable {
    private let startedAt = Mutex<ContinuousClock.Instant?>(nil)

    func record(startedAt time: ContinuousClock.Instant) {
        startedAt.withLock { $0 = time }
    }

    /// Returns whether a renewal that started after the given time has succeeded.
    func haveSucceeded(since time: ContinuousClock.Instant) -> Bool {
        startedAt.withLock { $0.map { $0 > time } ?? false }
    }
}
