import Glibc

/// A command with its arguments. The value of an option comes from the first of these sources that has one: the flag,
/// the environment variable, the configuration file, the declared default.
struct Invocation: Sendable {
    let command: Command
    /// The words after the words that selected the command, unchanged.
    let words: [String]
    /// The settings that a configuration file may contain in addition to the command's own options.
    private let settings: Set<String>
    private let operands: [String: String]
    private let values: [String: String]
    /// The sources of the options that are not given on the command line, as texts for people, keyed by option name.
    private let origins: [String: String]

    /// Returns the value of a required operand, which a valid command line always has.
    func operand(_ name: String) -> String { operands[name] ?? "" }

    /// Returns the value of an optional operand, which is `[NAME]` in the command's list; nil if it is missing.
    func optionalOperand(_ name: String) -> String? { operands["[\(name)]"] }

    /// The value of an option, or nil if it is not set.
    subscript(name: String) -> String? { values[name] }

    /// Returns the value of a required option.
    /// - Throws: `UsageError` if the option is not set.
    func required(_ name: String) throws(UsageError) -> String {
        guard let value = values[name] else { throw UsageError(description: "--\(name) is missing.", command: command) }
        return value
    }

    /// Returns the parsed value of a required option.
    /// - Parameter form: The expected format of the value, for the error message, such as `HOST:PORT`.
    func required<Value>(_ name: String, as form: String, _ parse: (String) -> Value?) throws(UsageError) -> Value {
        guard let value = parse(try required(name)) else {
            throw UsageError(description: "--\(name) must be \(form).", command: command)
        }
        return value
    }

    /// Returns the parsed value of an option, or nil if it is not set.
    func optional<Value>(_ name: String, as form: String, _ parse: (String) -> Value?) throws(UsageError) -> Value? {
        values[name] == nil ? nil : try required(name, as: form, parse)
    }

    /// Returns the password: a line from standard input if `--password-stdin` is given, otherwise what a user at a
    /// terminal types.
    /// - Parameter isNew: Whether a new password is being set. A user at a terminal must then type the password twice,
    ///   because nothing else would detect a typing error.
    func readPassword(isNew: Bool = false) throws -> String {
        if isOn("password-stdin") { return try Terminal.readPassword() }
        guard Terminal.isInteractive else {
            throw UsageError(
                description: "Give the password on standard input, with --password-stdin.", command: command)
        }
        return try Terminal.askPassword(isNew: isNew)
    }

    /// Reports on standard error what was done, unless `--quiet` is given.
    func report(_ sentence: String) {
        guard !isOn(Option.quiet.name) else { return }
        Terminal.complain(sentence)
    }
}

extension Invocation {
    static let configurationOption = Option(
        "config", "FILE", "Read settings from this file: a line 'key = value' each.")

    /// The configuration file of a packaged server. It is read if neither a configuration file nor a data directory is
    /// given.
    static let systemFile = "/etc/martlet/martlet.conf"

    static func processEnvironment(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }

    /// - Parameters:
    ///   - words: The words after the words that selected the command.
    ///   - settings: The settings that a configuration file may contain in addition to the command's own options.
    ///   - environment: Returns the value of an environment variable. Empty values are ignored, except that an empty
    ///     `MARTLET_CONFIG` prevents `systemFile` from being read.
    ///   - systemFile: The configuration file that is read if neither a data directory nor a file is given.
    init(
        _ command: Command, words: [String], settings: Set<String> = [], environment: (String) -> String?,
        systemFile: String = Self.systemFile
    ) throws {
        guard !command.isInternal else {
            self.command = command
            self.words = words
            self.settings = settings
            (operands, values, origins) = ([:], [:], [:])
            return
        }
        let (flags, found) = try Self.split(words, command)
        let needed = command.operands.count { !$0.hasPrefix("[") }
        guard (needed...command.operands.count).contains(found.count) else {
            let wanted = command.operands.isEmpty ? "no further words" : command.operands.joined(separator: " ")
            let given = found.count == 1 ? "1 word was" : "\(found.count) words were"
            throw UsageError(
                description: "'martlet \(command.name)' takes \(wanted); \(given) given.", command: command)
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
        var configured = try file.map { try ConfigurationFile.read($0, settings: settings.union(own)) } ?? [:]
        // An option that can only be a flag takes no value from the file. The file may have a setting of the same name
        // for another command: `simulator` is a setting of `serve`, for example.
        for option in command.options where option.isFlagAlone { configured[option.name] = nil }
        var origins: [String: String] = [:]
        for option in command.options where flags[option.name] == nil {
            if variable(option) != nil {
                origins[option.name] = "the environment variable \(option.environmentVariable)"
            } else if let file, let setting = configured[option.name] {
                origins[option.name] = "\(file), line \(setting.line)"
            }
        }
        var values: [String: String] = [:]
        for option in command.options {
            let value = flags[option.name] ?? variable(option) ?? configured[option.name]?.value ?? option.fallback
            guard option.placeholder != nil || value.map({ Self.switchValues[$0.lowercased()] != nil }) ?? true else {
                throw UsageError(
                    description: Self.located(
                        "--\(option.name) is a switch: it is given without a value, or with true or false.", origins),
                    command: command)
            }
            values[option.name] = value
        }
        for option in command.options where option.isSecret {
            let file = option.fileOption
            let sources: [(value: String?, file: String?)] = [
                (flags[option.name], flags[file.name]), (variable(option), variable(file)),
                (configured[option.name]?.value, configured[file.name]?.value),
            ]
            values[option.name] = try Self.secret(option, in: sources, of: command)
        }
        self.command = command
        self.words = words
        self.settings = settings
        self.values = values
        self.origins = origins
        operands = Dictionary(uniqueKeysWithValues: zip(command.operands, found))
    }

    /// Returns a sentence, followed by the sources of the options that the sentence names. Options that are given on
    /// the command line are left out.
    func located(_ sentence: String) -> String { Self.located(sentence, origins) }

    private static func located(_ sentence: String, _ origins: [String: String]) -> String {
        let named = sentence.split(separator: " ").map { word in
            word.drop { $0 != "-" }.prefix { $0.isLetter || $0.isNumber || $0 == "-" }
        }
        let origins = origins.filter { named.contains("--\($0.key)") }.sorted { $0.key < $1.key }
        return ([sentence] + origins.map { "--\($0.key) is set in \($0.value)." }).joined(separator: " ")
    }

    /// Returns the value of a secret option, from the first source that has the value or names a file with the value.
    /// If there is no such source, returns the option's `fallback`.
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

    /// Returns whether a switch is on. A switch that is not set is off.
    func isOn(_ name: String) -> Bool {
        values[name].flatMap { Self.switchValues[$0.lowercased()] } ?? false
    }

    /// Splits the words into flags with their values, and operands. After `--` all words are operands.
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
    /// Returns the same command line, evaluated again with the current environment and configuration file.
    func again() throws -> Invocation {
        try Invocation(command, words: words, settings: settings, environment: Self.processEnvironment)
    }
}
