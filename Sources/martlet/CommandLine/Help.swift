/// The texts of `--help`, and the hint after a usage error.
enum Help {
    /// Returns the hint that is printed after an error. The hint is short, so that the error above it is not
    /// overlooked.
    static func hint(after error: UsageError, _ table: CommandTable) -> String {
        if let hint = error.hint { return hint }
        if let command = error.command {
            return "usage: martlet \(command.usage) [OPTIONS]\n'martlet \(command.name) --help' shows the options."
        }
        let group = table.commands(under: error.path)
        if error.path.isEmpty || group.isEmpty { return "'martlet --help' shows the commands." }
        return "There are:\n" + group.map { "  martlet " + $0.usage }.joined(separator: "\n")
    }

    static func overview(_ commands: [Command]) -> String {
        let width = commands.map(\.usage.count).max() ?? 0
        let lines = commands.map { "  " + padded($0.usage, width) + "  " + $0.summary }
        return """
            Martlet: a push notification hub on your own machines.

            usage: martlet COMMAND [OPTIONS]

            \(lines.joined(separator: "\n"))

            'martlet COMMAND --help' shows the options of a command. Each can also be set in the environment
            (--data is MARTLET_DATA) and in a file named by --config. 'martlet --version' prints the version.
            """
    }

    static func page(_ command: Command) -> String {
        let options = command.options + [Invocation.configurationOption]
        let width = options.map(\.usage.count).max() ?? 0
        let lines = options.map { option in
            let fallback = option.fallback.map { " (default: \($0))" } ?? ""
            return "  \(padded(option.usage, width))  \(option.help)\(fallback)"
        }
        return """
            usage: martlet \(command.usage) [OPTIONS]

            \(command.summary)

            \(lines.joined(separator: "\n"))
            """
    }

    private static func padded(_ text: String, _ width: Int) -> String {
        text + String(repeating: " ", count: max(0, width - text.count))
    }
}
