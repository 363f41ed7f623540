/// The result of examining one setting or condition of a database.
public struct DatabaseFinding: Hashable, Sendable {
    public enum Level: Sendable {
        case good
        /// Martlet works, but not as well or as safely as it could.
        case warning
        /// Martlet does not work, or does not keep what it promises.
        case problem
    }

    public let level: Level
    /// A sentence that says what was found. Unless the level is good, it also says what to do.
    public let sentence: String

    init(_ level: Level, _ sentence: String) {
        self.level = level
        self.sentence = sentence
    }

    /// Creates a finding. The finding is a problem with the sentence `fault`, or a good finding if `fault` is nil.
    init(fault: String?, orGood sentence: String) {
        self = fault.map { DatabaseFinding(.problem, $0) } ?? DatabaseFinding(.good, sentence)
    }
}
