import Glibc
import MartletCore
import MartletModel
import Synchronization

/// The clock that the server uses. Normally this is the machine's clock. If the machine's clock is wrong, a node of a
/// shared database uses the database's clock instead, so that all nodes agree on when something is due, paused or
/// expired.
///
/// A node compares the clocks once a second. Between two comparisons it counts the time by a clock that cannot be set.
/// So nothing expires and nothing is due too early when the machine's clock is set, even by a day.
final class ServerTime: TimeSource {
    /// Differences up to this limit are ignored, so that nodes with synchronized clocks do not switch between two
    /// clocks.
    private static let tolerance: Duration = .seconds(1)

    private let clock: any TimeSource
    /// Milliseconds since some moment, by a clock that cannot be set.
    private let count: @Sendable () -> Int64
    /// `now` minus `count()`, in milliseconds; `Int64.min` before the first comparison.
    private let origin = Atomic<Int64>(.min)
    /// How far `now` is ahead of the machine's clock, in milliseconds, at the last comparison.
    private let offset = Atomic<Int64>(0)

    init(clock: any TimeSource = SystemTime(), count: @escaping @Sendable () -> Int64 = ServerTime.sinceBoot) {
        self.clock = clock
        self.count = count
    }

    // Adds milliseconds instead of a `Duration`, which is a number of 128 bits: a send reads the clock 28 times.
    var now: Timestamp {
        let origin = origin.load(ordering: .relaxed)
        guard origin != .min else { return clock.now }
        return Timestamp(milliseconds: count() + origin)
    }

    /// How far `now` is ahead of the machine's clock; zero while the machine's clock is right.
    var difference: Duration { .milliseconds(offset.load(ordering: .relaxed)) }

    func sleep(until timestamp: Timestamp) async throws { try await sleepInSteps(until: timestamp) }

    /// The time since the machine was started, in milliseconds, including the time in which it was suspended.
    static func sinceBoot() -> Int64 {
        var time = timespec()
        clock_gettime(CLOCK_BOOTTIME, &time)
        return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
    }

    /// Switches to another clock if the machine's clock certainly differs from it by more than a second. Switches back
    /// once the machine's clock is certainly right. If reading the other clock took long, the difference is uncertain,
    /// and the time goes on as before.
    /// - Parameters:
    ///   - other: The time that the other clock showed at some moment within the last `elapsed`.
    ///   - elapsed: The longest time that may have passed since the other clock was read.
    /// - Returns: Whether the difference has changed.
    func follow(_ other: Timestamp, readWithin elapsed: Duration) -> Bool {
        let age = elapsed.wholeMilliseconds / 2
        let tolerance = Self.tolerance.wholeMilliseconds
        let (machine, counted, former) = (clock.now.milliseconds, count(), origin.load(ordering: .relaxed))
        let right = other.milliseconds + age
        let shown = former == .min ? machine : counted + former
        let current = offset.load(ordering: .relaxed)
        let isMachineRight = abs(right - machine) + age <= tolerance / 2
        let isMachineUsed = current == 0 && abs(machine - shown) <= tolerance
        let isShownWrong = abs(right - shown) > tolerance + age
        let time = isMachineRight ? machine : isShownWrong ? right : isMachineUsed ? machine : shown
        origin.store(time - counted, ordering: .relaxed)
        let ahead = time - machine
        guard (ahead == 0) != (current == 0) || abs(ahead - current) > tolerance else { return false }
        offset.store(ahead, ordering: .relaxed)
        return true
    }

    /// Logs which clock the server uses now.
    func report(to log: Log) {
        let seconds = difference.components.seconds
        guard difference != .zero else {
            return log.write(.info, "The clock of this machine is right again, and this node goes by it.")
        }
        log.write(
            .error,
            "The clock of this machine is \(abs(seconds)) seconds \(seconds > 0 ? "behind" : "ahead of") the database's. "
                + "This node goes by the database's clock. Set the clock of the machine.")
    }
}
