import MartletHTTP
import MartletModel
import MartletServer

/// `martlet completion`, `martlet man` and `martlet config example`: print texts that are generated from the table of
/// commands.
struct DocumentationCommands: Sendable {
    /// Returns the table of commands. This is a closure, because the table is complete only after these commands have
    /// been added to it.
    let table: @Sendable () -> CommandTable
    /// The command that runs the server. Most settings in a configuration file are settings of this command.
    let server: Command

    var all: [Command] { [completion, complete, manual, configurationExample] }

    private var completion: Command {
        Command(
            "completion", operands: ["bash|zsh|fish"],
            "Print the script that completes commands, options and names in a shell: "
                + "'source <(martlet completion bash)'."
        ) { invocation in
            guard let script = CompletionScript(rawValue: invocation.operand("bash|zsh|fish")) else {
                throw UsageError(description: "The shell must be bash, zsh or fish.", command: invocation.command)
            }
            Terminal.print(script.text)
        }
    }

    private var complete: Command {
        var command = Command(
            "complete",
            "Print what may follow, for the scripts of 'martlet completion': a line words, files or directories, then a "
                + "line for each word."
        ) { [table] invocation in
            let words = Array(invocation.words.drop { $0 == "--" })
            let (earlier, current) = (Array(words.dropLast()), words.last ?? "")
            let completion = Completion(table(), words: earlier, current: current)
            for line in await Self.lines(of: completion, after: earlier, startingWith: current, table()) {
                Terminal.print(line)
            }
        }
        command.isInternal = true
        return command
    }

    private var manual: Command {
        Command(
            "man", operands: ["[1|5]"],
            "Print a manual page for man(1): 1 for martlet(1), the commands, which is the default; 5 for martlet.conf(5), "
                + "the configuration file."
        ) { [table, server] invocation in
            switch invocation.optionalOperand("1|5") ?? "1" {
            case "1": Terminal.print(ManualPage.commands(table(), version: Version.current).dropLast(1).description)
            case "5":
                let settings = server.options
                Terminal.print(ManualPage.configuration(settings, version: Version.current).dropLast(1).description)
            default:
                throw UsageError(description: "The section must be 1 or 5.", command: invocation.command)
            }
        }
    }

    private var configurationExample: Command {
        Command(
            "config example", "Print a configuration file with every setting of the server as a comment."
        ) { [server] _ in
            Terminal.print(ConfigurationExample.text(server.options).dropLast(1).description)
        }
    }

    /// Returns the lines to print: the kind of completion, then a line for each word that begins with the current text,
    /// with the word's help after a tab.
    private static func lines(
        of completion: Completion, after words: [String], startingWith current: String, _ table: CommandTable
    ) async -> [String] {
        switch completion {
        case .files: return ["files"]
        case .directories: return ["directories"]
        case .words(let words):
            return ["words"]
                + words.filter { $0.text.hasPrefix(current) }.map { word in
                    word.help.isEmpty ? word.text : "\(word.text)\t\(word.help)"
                }
        case .names(let path):
            let names = await names(path, after: words, table)
            return ["words"] + names.filter { $0.hasPrefix(current) }.map(Terminal.singleLine)
        }
    }

    /// Returns the names that a running server lists; empty if no server answers.
    private static func names(_ path: String, after words: [String], _ table: CommandTable) async -> [String] {
        let flags = ["--data", "--config"].flatMap { flag in
            words.lastIndex(of: flag).map { Array(words[$0...].prefix(2)) } ?? []
        }
        let command = Command("complete", "", options: [.data, .adminSocket]) { _ in }
        let invocation = try? Invocation(
            command, words: flags, settings: table.settings, environment: Invocation.processEnvironment)
        guard let invocation,
            let listed = try? await Administration(invocation).callRunning(.get, path)
        else { return [] }
        return (listed.array ?? listed["users"]?.array ?? []).compactMap { $0["name"]?.string ?? $0.string }
    }
}
