public import MartletModel

/// One line of `martlet check`.
public struct CheckResult: Hashable, Sendable {
    public enum Level: String, Sendable {
        case ok
        /// The server starts, and somebody should act.
        case warning
        /// The server does not start, or does not do what its configuration asks for.
        case problem
    }

    public let level: Level
    /// What was examined: `data`, `certificate`, `ports`, `disk`, `database` or `credentials`.
    public let subject: String
    /// What was found and, unless it is ok, what to do.
    public let sentence: String

    public init(_ level: Level, _ subject: String, _ sentence: String) {
        self.level = level
        self.subject = subject
        self.sentence = sentence
    }

    public var json: JSON {
        ["level": .string(level.rawValue), "subject": .string(subject), "sentence": .string(sentence)]
    }
}
