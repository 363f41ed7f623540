import MartletModel
import Synchronization

/// Limits how often a line is written to the log, if many requests would cause the same line.
final class Reminder: Sendable {
    private let interval: Duration
    private let next = Mutex<Timestamp?>(nil)

    init(every interval: Duration) {
        self.interval = interval
    }

    /// Returns whether the line may be written now. After it has returned true, it returns false until the interval is
    /// over.
    func isDue(at now: Timestamp) -> Bool {
        next.withLock { next in
            guard next.map({ $0 <= now }) ?? true else { return false }
            next = now + interval
            return true
        }
    }
}
