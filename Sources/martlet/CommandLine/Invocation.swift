import Glibc

/// A command with what it was given. An option's value is the flag's, else the environment variable's, else that of the
/// configuration file, else the declared default.
struct Invocation: Sendable {
    let command: Command
    private let operands: [String: String]
    private let values: [String: String]

    /// The word given for an operand.
    func operand(_ name: String) -> String { operands[name] ?? "" }

    /// The value of an option, or nil where nothing says one.
    subscript(name: String) -> String? { values[name] }

    /// Whether a switch is on.
    func isOn(_ name: String) -> Bool {
        values[name].map { !["", "0", "false", "no", "off"].contains($0.lowercased()) } ?? false
    }

    /// The value of an option that the command cannot do without.
    func required(_ name: String) throws -> String {
        guard let value = values[name] else {
            throw UsageError(description: "--\(name) is missing.", command: command)
        }
        return value
    }
}

extension Invocation {
    static let configurationOption = Option(
        "config", "FILE", "Read settings from this file: a line 'key = value' each.")

    /// - Parameter words: What follows the words that selected the command.
    init(_ command: Command, words: [String], environment: (String) -> String?) throws {
        let options = command.options + [Self.configurationOption]
        var flags: [String: String] = [:]
        var found: [String] = []
        var rest = words[...]
        while let word = rest.popFirst() {
            guard word.hasPrefix("--"), word != "--" else {
                if word != "--" { found.append(word) }
                continue
            }
            let parts = word.dropFirst(2).split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard let option = options.first(where: { $0.name == parts[0] }) else {
                throw UsageError(description: "There is no option --\(parts[0]).", command: command)
            }
            if option.placeholder == nil {
                flags[option.name] = parts.count == 2 ? String(parts[1]) : "true"
            } else if parts.count == 2 {
                flags[option.name] = String(parts[1])
            } else if let value = rest.popFirst() {
                flags[option.name] = value
            } else {
                throw UsageError(description: "--\(option.name) needs a value.", command: command)
            }
        }
        guard found.count == command.operands.count else {
            let wanted = command.operands.isEmpty ? "no further words" : command.operands.joined(separator: " ")
            throw UsageError(description: "'martlet \(command.name)' takes \(wanted).", command: command)
        }
        let file = flags["config"] ?? environment(Self.configurationOption.environmentVariable)
        let configured = try file.map(ConfigurationFile.read) ?? [:]
        var values: [String: String] = [:]
        for option in options {
            values[option.name] =
                flags[option.name] ?? environment(option.environmentVariable) ?? configured[option.name]
                ?? option.fallback
        }
        self.command = command
        self.values = values
        operands = Dictionary(uniqueKeysWithValues: zip(command.operands, found))
    }
}
