/// One command of the command line.
struct Command: Sendable {
    /// The words that select the command, such as `hub`, `credential`, `set`.
    var path: [String]
    /// The names of the required operands as help spells them, such as `NAME`, followed by the names of the optional
    /// operands, such as `[NAME]`.
    var operands: [String]
    var summary: String
    /// The options. Each secret option is followed by the option that names a file with the secret.
    var options: [Option]
    /// Returns whether an option is relevant for these operands; help and completion show only relevant options.
    var isRelevant: @Sendable (Option, [String]) -> Bool = { _, _ in true }
    /// Whether the command is only for scripts: all following words are passed to it unchanged, and help does not list
    /// it.
    var isInternal = false
    var run: @Sendable (Invocation) async throws -> Void

    init(
        _ path: String, operands: [String] = [], _ summary: String, options: [Option] = [],
        run: @escaping @Sendable (Invocation) async throws -> Void
    ) {
        self.path = path.split(separator: " ").map(String.init)
        self.operands = operands
        self.summary = summary
        // The options of another command may be among these, with their options for files.
        let names = Set(options.map(\.name))
        self.options = options.flatMap { option in
            option.isSecret && !names.contains(option.fileOption.name) ? [option, option.fileOption] : [option]
        }
        self.run = run
    }

    var name: String { path.joined(separator: " ") }

    /// Returns the options that are relevant for the words that follow the command.
    func options(for words: [String]) -> [Option] { options.filter { isRelevant($0, words) } }

    /// The command with its operands, in the form that help shows.
    var usage: String { (path + operands).joined(separator: " ") }
}

/// An invalid command line, with which the program ends with exit code 64.
struct UsageError: Error, CustomStringConvertible {
    var description: String
    /// The command whose usage the hint shows; nil if no command is known.
    var command: Command?
    /// The first words of the command line, if they select no command. The hint lists the commands that begin with
    /// them.
    var path: [String] = []
    /// Advice on what to do; nil for the default advice, which is to read the help.
    var hint: String?
}
