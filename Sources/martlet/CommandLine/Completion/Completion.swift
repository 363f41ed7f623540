import MartletServer

/// The possible completions at the cursor of a shell.
enum Completion: Equatable {
    /// A completion that the program itself provides, such as a command or an option. The shell itself completes file
    /// names.
    struct Word: Equatable {
        var text: String
        var help: String
    }

    case words([Word])
    case files
    case directories
    /// Names that only a running server knows, such as those of hubs. The server lists them at this path of its
    /// administration API.
    case names(path: String)

    /// - Parameters:
    ///   - words: The words before the one to be completed, without the program's name.
    ///   - current: The part of the word already typed; may be empty.
    init(_ table: CommandTable, words: [String], current: String) {
        let command = table.commands.filter { words.starts(with: $0.path) }.max { $0.path.count < $1.path.count }
        guard let command else {
            self = .words(Self.commandWords(table, after: words))
            return
        }
        let rest = Array(words.dropFirst(command.path.count))
        let options = command.options(for: rest) + [Invocation.configurationOption]
        let state = State(rest, options)
        if let option = state.open {
            self = Self.value(of: option, in: command)
        } else if current.hasPrefix("-") {
            self = .words(Self.words(for: options.filter { !state.given.contains($0.name) }))
        } else if command.operands.indices.contains(state.operands) {
            self = Self.operand(command.operands[state.operands], of: command)
        } else {
            self = .words([])
        }
        if case .words(let own) = self, rest.isEmpty, !current.hasPrefix("-") {
            self = .words(own + Self.commandWords(table, after: words))
        }
    }

    /// Returns the words that may follow the given words in the name of a command.
    private static func commandWords(_ table: CommandTable, after words: [String]) -> [Word] {
        var found: [Word] = []
        for command in table.commands(under: [])
        where command.path.starts(with: words) && command.path.count > words.count {
            let text = command.path[words.count]
            let isWhole = command.path.count == words.count + 1
            guard !text.hasPrefix("-"), !found.contains(where: { $0.text == text }) else { continue }
            found.append(Word(text: text, help: isWhole ? firstSentence(command.summary) : ""))
        }
        return found
    }

    private static func words(for options: [Option]) -> [Word] {
        options.map { Word(text: "--\($0.name)", help: firstSentence($0.help)) } + [
            Word(text: "--help", help: "Show the options.")
        ]
    }

    private static func firstSentence(_ text: String) -> String {
        text.firstRange(of: ". ").map { String(text[..<$0.lowerBound]) + "." } ?? text
    }

    private static func choices(_ texts: some Sequence<String>) -> Completion {
        .words(texts.map { Word(text: $0, help: "") })
    }

    private static func value(of option: Option, in command: Command) -> Completion {
        switch (option.name, option.placeholder ?? "") {
        case (_, let form) where form.contains("|"): choices(form.split(separator: "|").map(String.init))
        case (_, "FILE"): .files
        case (_, "DIR"): .directories
        case (_, "FORMAT"): choices(Platforms.formats)
        case ("platform", _): choices(Platforms.names)
        case ("user", _), ("to", _): .names(path: "/users")
        case ("backend-hub", _): .names(path: "/hubs")
        default: .words([])
        }
    }

    private static func operand(_ name: String, of command: Command) -> Completion {
        switch (name.filter { $0 != "[" && $0 != "]" }, command.path[0]) {
        case ("HUB", _), ("NAME", "hub"): command.path == ["hub", "create"] ? .words([]) : .names(path: "/hubs")
        case ("NAME", "user"): .names(path: "/users")
        case ("NAME", "container"): command.path == ["container", "create"] ? .words([]) : .names(path: "/containers")
        case ("PLATFORM", _): choices(Platforms.names)
        case ("FILE", _): .files
        case (let form, _) where form.contains("|"): choices(form.split(separator: "|").map(String.init))
        default: .words([])
        }
    }
}

/// The state after parsing the words that follow a command's name.
private struct State {
    private(set) var given: Set<String> = []
    private(set) var operands = 0
    /// The option whose value comes next; nil if every option has its value.
    private(set) var open: Option?

    init(_ words: [String], _ options: [Option]) {
        for word in words {
            guard open == nil else {
                open = nil
                continue
            }
            guard word.hasPrefix("--") else {
                operands += 1
                continue
            }
            let parts = word.dropFirst(2).split(separator: "=", maxSplits: 1)
            guard let option = options.first(where: { parts.first.map(String.init) == $0.name }) else { continue }
            given.insert(option.name)
            if option.placeholder != nil, parts.count == 1, !word.hasSuffix("=") { open = option }
        }
    }
}
