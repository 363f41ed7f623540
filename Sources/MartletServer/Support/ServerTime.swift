import MartletCore
import MartletModel
import Synchronization

/// The time by which the server acts: that of the machine's clock. A node of a shared database whose clock is wrong goes
/// by the database's clock instead, so that all nodes agree on when something is due, paused or expired.
final class ServerTime: TimeSource {
    /// Differences up to this one are left alone: nodes with synchronized clocks do not change between two clocks.
    private static let tolerance: Duration = .seconds(1)

    private let clock: any TimeSource
    /// How far the time is ahead of the machine's clock, in milliseconds.
    private let offset = Atomic<Int64>(0)

    init(clock: any TimeSource = SystemTime()) {
        self.clock = clock
    }

    var now: Timestamp { clock.now + difference }

    /// How far the time is ahead of the machine's clock; zero while the machine's clock is right.
    var difference: Duration { .milliseconds(offset.load(ordering: .relaxed)) }

    func sleep(until timestamp: Timestamp) async throws { try await sleepInSteps(until: timestamp) }

    /// Goes by another clock if the machine's clock certainly differs from it by more than a second, and by the machine's
    /// clock again once that is certainly right. An answer that took long decides nothing.
    /// - Parameters:
    ///   - other: What the other clock showed at some moment within the last `elapsed`.
    ///   - elapsed: How long ago the other clock may have been read.
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

    /// Tells the operator by which clock the server goes.
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
