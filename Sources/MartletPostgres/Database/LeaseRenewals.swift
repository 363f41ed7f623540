import Synchronization

/// Remembers when the last renewal of this node's lease was asked for that succeeded.
final class LeaseRenewals: Sendable {
    private let askedAt = Mutex<ContinuousClock.Instant?>(nil)

    func record(askedAt moment: ContinuousClock.Instant) {
        askedAt.withLock { $0 = moment }
    }

    /// Returns whether a renewal has succeeded that was asked for later than a moment.
    func haveSucceeded(since moment: ContinuousClock.Instant) -> Bool {
        askedAt.withLock { $0.map { $0 > moment } ?? false }
    }
}
