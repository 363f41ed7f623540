import Glibc
import MartletClient
import MartletServer

/// The `martlet` program: finds the command that the command line selects, and runs it.
@main
struct Martlet {
    static let table: CommandTable = CommandTable(
        commands: commands + DocumentationCommands(table: { table }, server: ServeCommand.command).all)

    private static let commands =
        [ServeCommand.command, SimulateCommand.command] + HubCommands.all + ClusterCommands.all + KeyCommands.all
        + UserCommands.all
        + OperatorCommands.all
        + ContainerCommands.all + ControlCommands.all + BackupCommands.all + TransferCommands.all
        + DeadLetterCommands.all
        + ServerKeyCommands.all + LifecycleCommands.all + [MigrateCommand.command]
        + [
            CheckCommand.command, SendCommand.command, EncryptedSendCommand.command, AudienceCommand.command,
            ScheduleCommand.command,
            WhyCommand.command, SendsCommand.command,
            FunnelCommand.command,
            KeysCommand.command,
            NotifyCommand.command, ReadersCommand.command, AuditCommand.command, MetricsCommand.command,
            DeviceCommand.command, BrowserCommand.command, NodesCommand.command, MoveCommand.command,
        ]

    /// Runs the program. The function is not asynchronous, because threads that receive signals already exist when an
    /// asynchronous `main` begins.
    static func main() {
        // Makes a write to a closed connection fail with an error instead of ending the process.
        signal(SIGPIPE, SIG_IGN)
        // Switches off the reports that libdispatch sends to syslog for each thread whose priority it may not raise,
        // for example in the packaged systemd unit. The threads do the same work with their normal priority.
        setenv("LIBDISPATCH_LOG", "NO", 0)
        Signals.block()
        let words = Result { try Arguments.words(CommandLine.argc, CommandLine.unsafeArgv) }
        // `exit` is not used, because it would destroy data that libraries keep for all threads while some threads
        // still run.
        Task.detached { _exit(await execute(words)) }
        Signals.takeForever()
    }

    /// Runs the command that the words select.
    /// - Returns: The exit code.
    private static func execute(_ words: Result<[String], any Error>) async -> Int32 {
        do {
            try await run(words.get())
            return EXIT_SUCCESS
        } catch let error as UsageError {
            Terminal.fail(error)
            Terminal.complain(Help.hint(after: error, table))
            return EX_USAGE
        } catch {
            Terminal.fail(error)
            return EXIT_FAILURE
        }
    }

    private static func run(_ words: [String]) async throws {
        switch try table.request(words) {
        case .version: Terminal.print(Version.line)
        case .overview(let path): Terminal.print(Help.overview(table.commands(under: path)))
        case .help(let command): Terminal.print(Help.page(command))
        case .run(let command, let rest):
            let invocation = try Invocation(
                command, words: rest, settings: table.settings, environment: Invocation.processEnvironment)
            if command.path == ServeCommand.command.path {
                let warnings = EnvironmentVariables.warnings(EnvironmentVariables.names, settings: table.settings)
                for sentence in warnings { Log().write(.warning, sentence) }
            }
            try await run(command, invocation)
        }
    }

    /// Runs a command.
    /// - Throws: The error of the command, with details that only the invocation knows: the source of a setting, or the
    ///   address of a server that cannot be reached.
    private static func run(_ command: Command, _ invocation: Invocation) async throws {
        do {
            try await command.run(invocation)
        } catch var error as UsageError {
            error.description = invocation.located(error.description)
            throw error
        } catch let error as ServerError {
            throw ServerError(invocation.located(error.description))
        } catch let error as PushClientError {
            guard [.unreachable, .insecureConnection].contains(error.kind), let address = invocation["backend"] else {
                throw error
            }
            throw ServerError("\(address): \(error)")
        }
    }
}
