public import MartletModel

/// The result of one check by `martlet check`, printed as one line.
public struct CheckResult: Hashable, Sendable {
    public enum Level: String, Sendable {
        case ok
        /// The server starts, but the operator should take action.
        case warning
        /// The server does not start, or does not do what its configuration specifies.
        case problem
    }

    public let level: Level
    /// The subject of the check: `data`, `certificate`, `provider`, `ports`, `disk`, `database`, `server` or
    /// `credentials`.
    public let subject: String
    /// A sentence with the finding and, unless the result is ok, the action to take.
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
