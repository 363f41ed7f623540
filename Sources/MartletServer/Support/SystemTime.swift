import Glibc
public import MartletCore
public import MartletModel

/// The system's clock, with a resolution of one millisecond.
public struct SystemTime: TimeSource {
    public init() {}

    public var now: Timestamp {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Timestamp(milliseconds: Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000)
    }

    public func sleep(until timestamp: Timestamp) async throws { try await sleepInSteps(until: timestamp) }
}

extension TimeSource {
    /// Sleeps until a time, in steps of at most one second. The clock is read after each step, because it may have been
    /// set in the meantime. Returns early if the clock was set back.
    func sleepInSteps(until timestamp: Timestamp) async throws {
        var last = now
        while last < timestamp {
            try await Task.sleep(for: min(timestamp - last, .seconds(1)))
            let current = now
            guard current >= last else { return }
            last = current
        }
    }
}
