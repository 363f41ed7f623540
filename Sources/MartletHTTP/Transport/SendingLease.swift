import Synchronization

/// The time until which this process may send. The process extends the lease again and again. After the lease has
/// ended, nothing may be sent, because another process may already send the same pushes. Thread-safe.
///
/// A sender checks the lease before each portion of a batch. The operating system can suspend the process at any time,
/// and the process then continues in the middle of a batch without knowing that time has passed.
public final class SendingLease: Sendable {
    private let now: @Sendable () -> ContinuousClock.Instant
    private let start: ContinuousClock.Instant
    /// The end of the lease, in nanoseconds after `start`.
    private let end = Atomic<Int64>(-1)

    /// Creates a lease that has ended.
    /// - Parameter now: Returns the current time of a clock that continues while the machine sleeps.
    public init(now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }) {
        self.now = now
        start = now()
    }

    /// True if the lease has ended, so that nothing may be sent.
    public var hasEnded: Bool {
        let end = end.load(ordering: .acquiring)
        return end != .max && nanoseconds(of: now()) >= end
    }

    /// Lets the lease last until it is revoked. Used by a process that shares its storage with no other.
    public func extendWithoutEnd() {
        end.store(.max, ordering: .releasing)
    }

    /// Moves the end of the lease to the given time.
    /// - Returns: True if the lease had already ended before this call. A sender may then have seen that the lease had
    ///   ended.
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
