import MartletModel

#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

/// The client's dependencies on the system, apart from the network. Tests replace them.
struct ClientEnvironment: Sendable {
    var sleep: @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }
    /// Waits for the length of a time limit; throws if the waiting task is cancelled.
    var timeLimit: @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }
    var chance: @Sendable () -> Double = { Double.random(in: 0...1) }
    var now: @Sendable () -> Timestamp = { Self.systemTime() }

    private static func systemTime() -> Timestamp {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Timestamp(milliseconds: Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000)
    }
}
