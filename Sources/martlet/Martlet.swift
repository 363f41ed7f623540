import Glibc
import MartletServer

/// The `martlet` program.
@main
struct Martlet {
    static let commands =
        [ServeCommand.command, SimulateCommand.command] + HubCommands.all + UserCommands.all
        + [SendCommand.command, NotifyCommand.command, DeviceCommand.command]

    /// Not asynchronous itself: by the time that an asynchronous one runs, there are threads that take signals.
    static func main() {
        // A peer that has gone is an error of the write, not the end of the process.
        signal(SIGPIPE, SIG_IGN)
        Signals.block()
        let words = Array(CommandLine.arguments.dropFirst())
        Task.detached { exit(await execute(words)) }
        Signals.takeForever()
    }

    /// - Returns: The exit code.
    private static func execute(_ words: [String]) async -> Int32 {
        do {
            try await run(words)
            return EXIT_SUCCESS
        } catch let error as UsageError {
            Terminal.complain("martlet: \(error)")
            Terminal.complain(error.command.map(Help.page) ?? Help.overview(commands))
            return EX_USAGE
        } catch {
            Terminal.complain("martlet: \(error)")
            return EXIT_FAILURE
        }
    }

    private static func run(_ words: [String]) async throws {
        let command = commands.filter { words.starts(with: $0.path) }.max { $0.path.count < $1.path.count }
        if words.contains("--help") || words.contains("-h") || words.first == "help" {
            return Terminal.print(command.map(Help.page) ?? Help.overview(commands))
        }
        guard let command else {
            let problem = words.isEmpty ? "a command is missing." : "there is no command '\(words[0])'."
            throw UsageError(description: problem)
        }
        let rest = Array(words.dropFirst(command.path.count))
        let invocation = try Invocation(command, words: rest) { name in
            getenv(name).map { String(cString: $0) }
        }
        try await command.run(invocation)
    }
}
