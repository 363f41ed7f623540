import MartletCore
import MartletModel
import Synchronization

/// The clock that the server uses. Normally this is the machine's clock. If the machine's clock is wrong, a node of a
/// shared database uses the database's clock instead, so that all nodes agree on when something is due, paused or
/// expired.
final class ServerTime: TimeSource {
    /// Differences up to this limit are ignored, so that nodes with synchronized clocks do not switch between two
    /// clocks.
    private static let tolerance: Duration = .seconds(1)

    private let clock: any TimeSource
    /// How far `now` is ahead of the machine's clock, in milliseconds.
    private let offset = Atomic<Int64>(0)

    init(clock: any TimeSource = SystemTime()) {
        self.clock = clock
    }

    // Adds milliseconds instead of a `Duration`, which is a number of 128 bits: a send reads the clock 28 times.
    var now: Timestamp {
        Timestamp(milliseconds: clock.now.milliseconds + offset.load(ordering: .relaxed))
    }

    /// How far `now` is ahead of the machine's clock; zero while the machine's clock is right.
    var difference: Duration { .milliseconds(offset.load(ordering: .relaxed)) }

    func sleep(until timestamp: Timestamp) async throws { try await sleepInSteps(until: timestamp) }

    /// Switches to another clock if the machine's clock certainly differs from it by more than a second. Switches back
    /// once the machine's clock is certainly right. If reading the other clock took long, the difference is uncertain,
    /// and nothing changes.
    /// - Parameters:
    ///   - other: The time that the other clock showed at some moment within the last `elapsed`.
    ///   - elapsed: The longest time that may have passed since the other clock was read.
    /// - Returns: Whether the difference has changed.
    func follow(_ other: Timestamp, readWithin elapsed: Duration) -> Bool {
        let age = elapsed.wholeMilliseconds / 2
        let tolerance = Self.tolerance.wholeMilliseconds
        let (ahead, current) = ((other - clock.now).wholeMilliseconds + age, offset.load(ordering: .relaxed))
        let isClockRight = abs(ahead) + age <= tolerance / 2
        guard isClockRight ? current != 0 : abs(ahead - current) > tolerance + age else { return false }
        offset.store(isClockRight ? 0 : ahead, ordering: .relaxed)
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
