import MartletCore
import MartletModel
import Synchronization

/// Selects the requests that are written to the log.
public enum AccessLog: String, Hashable, Sendable, CaseIterable {
    case off
    /// Only requests that were answered with 5xx or 429 are logged.
    case errors
    case all

    func includes(status: Int) -> Bool {
        switch self {
        case .off: false
        case .errors: status >= 500 || status == 429
        case .all: true
        }
    }
}

/// Limits the number of log lines per second, and counts the dropped lines.
struct LineBudget: Sendable {
    let linesPerSecond: Int
    private var second: Int64 = .min
    private var written = 0
    private var dropped = 0

    init(linesPerSecond: Int = 10_000) {
        self.linesPerSecond = linesPerSecond
    }

    /// Returns whether a line may be written now, and how many lines were dropped earlier.
    ///
    /// The dropped lines are reported once, at the first line of a new second.
    mutating func take(at now: Timestamp) -> (isWritten: Bool, dropped: Int) {
        var reported = 0
        if now.seconds != second {
            reported = dropped
            (second, written, dropped) = (now.seconds, 0, 0)
        }
        guard written < linesPerSecond else {
            dropped += 1
            return (false, reported)
        }
        written += 1
        return (true, reported)
    }
}
