import Glibc
public import MartletCore
public import MartletModel

/// The system's clock, to the millisecond.
public struct SystemTime: TimeSource {
    /// The longest single sleep. After each sleep the clock is checked again, because it may have been set meanwhile.
    private static let longestSleep: Duration = .seconds(1)

    public init() {}

    public var now: Timestamp {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Timestamp(milliseconds: Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000)
    }

    public func sleep(until timestamp: Timestamp) async throws {
        var last = now
        while last < timestamp {
            try await Task.sleep(for: min(timestamp - last, Self.longestSleep))
            let current = now
            guard current >= last else { return }
            last = current
        }
    }
}
