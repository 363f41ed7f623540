/// All commands of the program. The table finds the command that a command line selects.
struct CommandTable: Sendable {
    /// The request that a command line expresses.
    enum Request: Sendable {
        /// Run the command with the words that follow its path.
        case run(Command, [String])
        case help(Command)
        /// List the commands whose path begins with `path`; all commands if `path` is empty.
        case overview(path: [String])
        case version
    }

    let commands: [Command]

    /// Returns the request that a command line expresses.
    /// - Parameter words: The command line without the program's name.
    /// - Throws: `UsageError` if no command is selected.
    func request(_ words: [String]) throws(UsageError) -> Request {
        var words = words
        let options = words.prefix { $0 != "--" }
        var asksForHelp = options.contains { $0 == "--help" || $0 == "-h" }
        if words.first == "help" {
            asksForHelp = true
            words.removeFirst()
        }
        words = Self.withoutAlias(words)
        if let command = commands.filter({ words.starts(with: $0.path) }).max(by: { $0.path.count < $1.path.count }) {
            let rest = Array(words.dropFirst(command.path.count))
            guard asksForHelp, !command.isInternal else { return .run(command, rest) }
            var shown = command
            shown.options = command.options(for: rest)
            return .help(shown)
        }
        let path = Array(words.prefix { !$0.hasPrefix("-") })
        if asksForHelp, path.isEmpty || !commands(under: path).isEmpty { return .overview(path: path) }
        if words.first == "--version" || words == ["version"] { return .version }
        throw problem(path, words)
    }

    /// Returns `notify --encrypt` followed by the other words, if the words select this command; otherwise returns the
    /// words unchanged. The option may stand anywhere. `send` is accepted instead of `notify`, because `send --encrypt`
    /// is the former name of the command.
    private static func withoutAlias(_ words: [String]) -> [String] {
        let option = "--encrypt"
        guard let first = words.first, ["send", "notify"].contains(first),
            let index = words.prefix(while: { $0 != "--" }).firstIndex(of: option)
        else { return words }
        var rest = words.dropFirst()
        rest.remove(at: index)
        return ["notify", option] + rest
    }

    /// Returns the commands whose path begins with these words, without the internal ones.
    func commands(under path: [String]) -> [Command] {
        commands.filter { $0.path.starts(with: path) && !$0.isInternal }
    }

    /// The names of the settings that a configuration file may contain. The environment may contain them, too, spelled
    /// as variables such as `MARTLET_DATA`.
    var settings: Set<String> { Set(commands.flatMap(\.options).filter { !$0.isFlagAlone }.map(\.name)) }

    private func problem(_ path: [String], _ words: [String]) -> UsageError {
        guard let first = words.first else { return UsageError(description: "A command is missing.") }
        guard !path.isEmpty else {
            return UsageError(
                description: "The command comes first, then its options: there is no command '\(first)'.")
        }
        let text = path.joined(separator: " ")
        if !commands(under: path).isEmpty {
            return UsageError(description: "'martlet \(text)' needs a further word.", path: path)
        }
        let known = path.indices.last { !commands(under: Array(path[..<$0])).isEmpty } ?? 0
        let unknown = path[...known].joined(separator: " ")
        let names = commands.flatMap { command in
            command.path.indices.map { command.path[...$0].joined(separator: " ") }
        }
        return UsageError(
            description: "There is no command '\(unknown)'.\(Spelling.question(unknown, names))",
            path: Array(path[..<known]))
    }
}
