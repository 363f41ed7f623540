import Glibc

/// A command with what it was given. An option's value is the flag's, else the environment variable's, else that of the
/// configuration file, else the declared default.
struct Invocation: Sendable {
    let command: Command
    /// What follows the words that selected the command, as it was given.
    let words: [String]
    /// What a configuration file may set besides the command's own options.
    private let settings: Set<String>
    private let operands: [String: String]
    private let values: [String: String]

    /// The word given for an operand.
    func operand(_ name: String) -> String { operands[name] ?? "" }

    /// The word given for an operand that may be missing: `[NAME]` in the command's list.
    func optionalOperand(_ name: String) -> String? { operands["[\(name)]"] }

    /// The value of an option, or nil where nothing says one.
    subscript(name: String) -> String? { values[name] }

    /// The value of an option that the command cannot do without.
    func required(_ name: String) throws(UsageError) -> String {
        guard let value = values[name] else { throw UsageError(description: "--\(name) is missing.", command: command) }
        return value
    }

    /// The value of an option that the command cannot do without, read.
    /// - Parameter form: What the value must be, for the error: `HOST:PORT`.
    func required<Value>(_ name: String, as form: String, _ parse: (String) -> Value?) throws(UsageError) -> Value {
        guard let value = parse(try required(name)) else {
            throw UsageError(description: "--\(name) must be \(form).", command: command)
        }
        return value
    }

    /// The value of an option, read, or nil where nothing says one.
    func optional<Value>(_ name: String, as form: String, _ parse: (String) -> Value?) throws(UsageError) -> Value? {
        values[name] == nil ? nil : try required(name, as: form, parse)
    }

    /// The password: the line on standard input that `--password-stdin` announces, else what a user at a terminal types.
    /// - Parameter isNew: Whether it is set, not checked, so that nothing else would tell a mistyped one.
    func readPassword(isNew: Bool = false) throws -> String {
        if isOn("password-stdin") { return try Terminal.readPassword() }
        guard Terminal.isInteractive else {
            throw UsageError(
                description: "Give the password on standard input, with --password-stdin.", command: command)
        }
        return try Terminal.askPassword(isNew: isNew)
    }

    /// Says on standard error what was done, unless `--quiet` is given.
    func report(_ sentence: String) {
        guard !isOn(Option.quiet.name) else { return }
        Terminal.complain(sentence)
    }
}

extension Invocation {
    static let configurationOption = Option(
        "config", "FILE", "Read settings from this file: a line 'key = value' each.")

    /// The configuration file of a packaged server, which is read where nothing says which server is meant.
    static let systemFile = "/etc/martlet/martlet.conf"

    /// The value of an environment variable of this process.
    static func processEnvironment(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }

    /// - Parameters:
    ///   - words: What follows the words that selected the command.
    ///   - settings: What a configuration file may set besides the command's own options.
    ///   - environment: The value of an environment variable; an empty one counts as none, but an empty
    ///     `MARTLET_CONFIG` keeps `systemFile` from being read.
    ///   - systemFile: The configuration file that is read where neither a data directory nor a file is named.
    init(
        _ command: Command, words: [String], settings: Set<String> = [], environment: (String) -> String?,
        systemFile: String = Self.systemFile
    ) throws {
        guard !command.isInternal else {
            self.command = command
            self.words = words
            self.settings = settings
            (operands, values) = ([:], [:])
            return
        }
        let (flags, found) = try Self.split(words, command)
        let needed = command.operands.count { !$0.hasPrefix("[") }
        guard (needed...command.operands.count).contains(found.count) else {
            let wanted = command.operands.isEmpty ? "no further words" : command.operands.joined(separator: " ")
            throw UsageError(
                description: "'martlet \(command.name)' takes \(wanted); \(found.count) words were given.",
                command: command)
        }
        if let empty = found.firstIndex(of: "") {
            let name = command.operands[empty].filter { $0 != "[" && $0 != "]" }
            throw UsageError(description: "\(name) is empty.", command: command)
        }
        func variable(_ option: Option) -> String? {
            guard !option.isFlagAlone else { return nil }
            return environment(option.environmentVariable).flatMap { $0.isEmpty ? nil : $0 }
        }
        var file = flags["config"] ?? variable(Self.configurationOption)
        if file == nil, environment(Self.configurationOption.environmentVariable) == nil, flags["data"] == nil,
            let data = command.options.first(where: { $0.name == "data" }), variable(data) == nil,
            access(systemFile, R_OK) == 0
        {
            file = systemFile
        }
        let own = command.options.filter { !$0.isFlagAlone }.map(\.name)
        let configured = try file.map { try ConfigurationFile.read($0, settings: settings.union(own)) } ?? [:]
        var values: [String: String] = [:]
        for option in command.options {
            let value = flags[option.name] ?? variable(option) ?? configured[option.name] ?? option.fallback
            guard option.placeholder != nil || value.map({ Self.switchValues[$0.lowercased()] != nil }) ?? true else {
                throw UsageError(
                    description: "--\(option.name) is a switch: it is given without a value, or with true or false.",
                    command: command)
            }
            values[option.name] = value
        }
        for option in command.options where option.isSecret {
            let file = option.fileOption
            let sources: [(value: String?, file: String?)] = [
                (flags[option.name], flags[file.name]), (variable(option), variable(file)),
                (configured[option.name], configured[file.name]),
            ]
            values[option.name] = try Self.secret(option, in: sources, of: command)
        }
        self.command = command
        self.words = words
        self.settings = settings
        self.values = values
        operands = Dictionary(uniqueKeysWithValues: zip(command.operands, found))
    }

    /// The value of a secret option, from the first source that has it or names its file.
    private static func secret(
        _ option: Option, in sources: [(value: String?, file: String?)], of command: Command
    ) throws -> String? {
        for source in sources {
            switch source {
            case (let value?, nil): return value
            case (nil, let path?): return try TextFile.readLine(path, of: option)
            case (_?, _?):
                throw UsageError(
                    description: "--\(option.name) and --\(option.fileOption.name) are both given; give one.",
                    command: command)
            case (nil, nil): continue
            }
        }
        return option.fallback
    }

    private static let switchValues = [
        "true": true, "1": true, "yes": true, "on": true, "false": false, "0": false, "no": false, "off": false,
    ]

    /// Whether a switch is on.
    func isOn(_ name: String) -> Bool {
        values[name].flatMap { Self.switchValues[$0.lowercased()] } ?? false
    }

    /// The flags with their values, and the other words. Behind `--` there are only other words.
    private static func split(
        _ words: [String], _ command: Command
    ) throws(UsageError) -> (flags: [String: String], rest: [String]) {
        let options = command.options + [configurationOption]
        var flags: [String: String] = [:]
        var found: [String] = []
        var rest = words[...]
        while let word = rest.popFirst() {
            if word == "--" { return (flags, found + rest) }
            guard word.hasPrefix("-"), word != "-" else {
                found.append(word)
                continue
            }
            let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard let option = options.first(where: { "--\($0.name)" == parts[0] }) else {
                let names = options.map(\.name)
                let question = Spelling.question(String(parts[0].drop { $0 == "-" }), names, prefix: "--")
                throw UsageError(description: "There is no option \(parts[0]).\(question)", command: command)
            }
            var value = parts.count == 2 ? String(parts[1]) : nil
            if option.placeholder == nil {
                value = value ?? "true"
            } else if value == nil, rest.first.map({ !$0.hasPrefix("--") }) ?? false {
                value = rest.popFirst()
            }
            guard let value, !value.isEmpty else {
                throw UsageError(description: "--\(option.name) needs a value.", command: command)
            }
            guard flags.updateValue(value, forKey: option.name) == nil else {
                throw UsageError(description: "--\(option.name) is given twice.", command: command)
            }
        }
        return (flags, found)
    }
}

extension Invocation {
    /// The same command line with the environment and the configuration file as they are now.
    func again() throws -> Invocation {
        try Invocation(command, words: words, settings: settings, environment: Self.processEnvironment)
    }
}
