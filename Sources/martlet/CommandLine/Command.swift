/// One command of the command line.
struct Command: Sendable {
    /// The words that select it: `hub`, `credential`, `set`.
    var path: [String]
    /// Names of the words that must follow, in help's spelling: `NAME`; after them those that may: `[NAME]`.
    var operands: [String]
    var summary: String
    /// With the file of each secret.
    var options: [Option]
    /// Whether an option is of use with these operands; help and completion show no others.
    var isRelevant: @Sendable (Option, [String]) -> Bool = { _, _ in true }
    /// Whether it is for scripts alone: all words that follow are handed to it as they are, and help does not list it.
    var isInternal = false
    var run: @Sendable (Invocation) async throws -> Void

    init(
        _ path: String, operands: [String] = [], _ summary: String, options: [Option] = [],
        run: @escaping @Sendable (Invocation) async throws -> Void
    ) {
        self.path = path.split(separator: " ").map(String.init)
        self.operands = operands
        self.summary = summary
        self.options = options.flatMap { $0.isSecret ? [$0, $0.fileOption] : [$0] }
        self.run = run
    }

    var name: String { path.joined(separator: " ") }

    /// The options that are of use with the words that follow the command.
    func options(for words: [String]) -> [Option] { options.filter { isRelevant($0, words) } }

    /// With its operands, as help shows it.
    var usage: String { (path + operands).joined(separator: " ") }
}

/// A command line that cannot be understood: exit code 64.
struct UsageError: Error, CustomStringConvertible {
    var description: String
    /// The command that was meant, where that is known.
    var command: Command?
    /// The first words, where they select no command.
    var path: [String] = []
    /// What to do, where that is not to read the help.
    var hint: String?
}
