/// The clock of a bulk session. It counts microseconds in 32 bits, so that each stream can store a time in little
/// memory. The count wraps around after 71 minutes, which is longer than any request waits.
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
