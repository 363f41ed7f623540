import MartletModel
import Synchronization

/// Limits how often a line that many requests cause is written to the log.
final class Reminder: Sendable {
    private let interval: Duration
    private let next = Mutex<Timestamp?>(nil)

    init(every interval: Duration) {
        self.interval = interval
    }

    /// Returns whether the line is to be written now. If so, the next lines within the interval are not written.
    func isDue(at now: Timestamp) -> Bool {
        next.withLock { next in
            guard next.map({ $0 <= now }) ?? true else { return false }
            next = now + interval
            return true
        }
    }
}
