import Glibc
public import MartletModel
import Synchronization

/// Writes the log: one line per event on standard error.
public struct Log: Sendable {
    public enum Level: String, Sendable, CaseIterable, Comparable {
        case debug
        case info
        case warning
        case error

        /// The severity of the level in syslog, which the journal expects at the beginning of a line.
        var priority: Int {
            switch self {
            case .debug: 7
            case .info: 6
            case .warning: 4
            case .error: 3
            }
        }

        public static func < (left: Level, right: Level) -> Bool { left.priority > right.priority }
    }

    /// The format in which the lines of the log are written.
    public enum Format: String, Sendable, CaseIterable {
        /// A JSON object for machines.
        case json
        /// Text for people.
        case text
    }

    private final class Threshold: Sendable {
        let level: Mutex<Level>

        init(_ level: Level) { self.level = Mutex(level) }
    }

    private let threshold: Threshold
    private let format: Format
    private let isJournaled: Bool

    /// Creates a log.
    /// - Parameters:
    ///   - level: The least severe level that is written.
    ///   - format: The format of lines; nil means text if standard error is a terminal, and JSON otherwise.
    public init(level: Level = .info, format: Format? = nil) {
        threshold = Threshold(level)
        self.format = format ?? (isatty(STDERR_FILENO) == 1 ? .text : .json)
        isJournaled = Self.isJournal(getenv("JOURNAL_STREAM").map { String(cString: $0) } ?? "")
    }

    /// Changes the level of this log and of all its copies.
    func setLevel(_ level: Level) {
        threshold.level.withLock { $0 = level }
    }

    /// Writes a line if its level is severe enough.
    /// - Parameters:
    ///   - message: A sentence without secrets, tokens, handles or payloads.
    ///   - fields: Structured data for searches.
    public func write(_ level: Level, _ message: String, _ fields: [String: JSON] = [:]) {
        guard level >= threshold.level.withLock(\.self) else { return }
        let time = SystemTime().now
        let line = LogLine(time: time, level: level, message: message, fields: fields)
        LogOutput.standardError.write(line.bytes(format, isJournaled: isJournaled)) { count in
            let notice = LogLine(
                time: time, level: .warning, message: "Lines were left out because standard error was not read.",
                fields: ["count": .integer(Int64(count))])
            return notice.bytes(format, isJournaled: isJournaled)
        }
    }

    /// Returns whether standard error is the stream of the journal, whose device and inode are in `JOURNAL_STREAM`.
    ///
    /// The variable alone is not enough. A child process of a service inherits it, although the standard error of the
    /// child may be a file.
    private static func isJournal(_ variable: String) -> Bool {
        var status = stat()
        guard fstat(STDERR_FILENO, &status) == 0 else { return false }
        return variable == "\(status.st_dev):\(status.st_ino)"
    }
}
