import Synchronization

/// The time until which this process may send. The process extends the lease again and again; when it did not do so in
/// time, another process may send the same, so nothing more may be sent. Thread-safe.
///
/// A sender asks before each portion whether the lease has ended, because a process that was stopped by its operating
/// system cannot be told: when it wakes up, it would go on in the middle of a portion.
public final class SendingLease: Sendable {
    private let now: @Sendable () -> ContinuousClock.Instant
    private let start: ContinuousClock.Instant
    /// The end of the lease, in nanoseconds after `start`.
    private let end = Atomic<Int64>(-1)

    /// Creates a lease that has ended.
    /// - Parameter now: Returns the current time of a clock that goes on while the machine sleeps.
    public init(now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }) {
        self.now = now
        start = now()
    }

    /// Whether nothing may be sent now.
    public var hasEnded: Bool { nanoseconds(of: now()) >= end.load(ordering: .acquiring) }

    /// Lets the lease end at the given time.
    /// - Returns: Whether anybody may have found before that the lease has ended.
    @discardableResult
    public func extend(until end: ContinuousClock.Instant) -> Bool {
        let old = self.end.exchange(nanoseconds(of: end), ordering: .acquiringAndReleasing)
        return nanoseconds(of: now()) >= old
    }

    /// Ends the lease.
    public func revoke() {
        end.store(-1, ordering: .releasing)
    }

    private func nanoseconds(of instant: ContinuousClock.Instant) -> Int64 {
        let (seconds, attoseconds) = (instant - start).components
        return seconds * 1_000_000_000 + attoseconds / 1_000_000_000
    }
}
