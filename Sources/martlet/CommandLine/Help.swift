/// The texts of `--help`, and what follows a usage error.
enum Help {
    /// Short, so that the error above it is seen.
    static func hint(after error: UsageError, _ table: CommandTable) -> String {
        if let command = error.command {
            return "usage: martlet \(usage(command)) [OPTIONS]\n'martlet \(command.name) --help' shows the options."
        }
        let group = table.commands(under: error.path)
        if error.path.isEmpty || group.isEmpty { return "'martlet --help' shows the commands." }
        return "There are:\n" + group.map { "  martlet " + usage($0) }.joined(separator: "\n")
    }

    static func overview(_ commands: [Command]) -> String {
        let width = commands.map { usage($0).count }.max() ?? 0
        let lines = commands.map { "  " + padded(usage($0), width) + "  " + $0.summary }
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
            usage: martlet \(usage(command)) [OPTIONS]

            \(command.summary)

            \(lines.joined(separator: "\n"))
            """
    }

    private static func usage(_ command: Command) -> String {
        (command.path + command.operands).joined(separator: " ")
    }

    private static func padded(_ text: String, _ width: Int) -> String {
        text + String(repeating: " ", count: max(0, width - text.count))
    }
}
