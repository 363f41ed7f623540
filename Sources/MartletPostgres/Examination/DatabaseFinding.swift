/// What an examination of a database has found about one of its settings.
public struct DatabaseFinding: Hashable, Sendable {
    public enum Level: Sendable {
        case good
        /// Martlet works, but not as well or as safely as it could.
        case warning
        /// Martlet does not work, or does not keep what it promises.
        case problem
    }

    public let level: Level
    /// What was found and, unless it is good, what to do.
    public let sentence: String

    init(_ level: Level, _ sentence: String) {
        self.level = level
        self.sentence = sentence
    }

    /// A problem if there is a fault; good otherwise.
    init(fault: String?, orGood sentence: String) {
        self = fault.map { DatabaseFinding(.problem, $0) } ?? DatabaseFinding(.good, sentence)
    }
}
