/// The clock of a bulk session, in microseconds that fit into each of its streams. It wraps around after 71 minutes; no
/// request waits that long.
struct BulkClock {
    let start: ContinuousClock.Instant

    func ticks(at now: ContinuousClock.Instant) -> UInt32 {
        let (seconds, attoseconds) = (now - start).components
        return UInt32(truncatingIfNeeded: seconds * 1_000_000 + attoseconds / 1_000_000_000_000)
    }

    func time(from ticks: UInt32, to now: ContinuousClock.Instant) -> Duration {
        .microseconds(Int64(self.ticks(at: now) &- ticks))
    }
}
