import Glibc
public import MartletCore
public import MartletModel

/// The system's clock, to the millisecond.
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
    /// Sleeps until a time, in steps of at most a second: the clock is looked at after each, because it may have been
    /// set meanwhile. Returns early if the clock is set back.
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
