import Glibc
import MartletHTTP
import MartletModel
import MartletServer
import Synchronization

/// `martlet move`: moves all data of a server between a data directory and a database on PostgreSQL. A server that
/// serves from the directory moves its data itself, and ends; in all other cases no server may run.
enum MoveCommand {
    static let command = Command(
        "move",
        "Move all data of a server from its data directory to PostgreSQL, or back. A server that serves from the directory "
            + "goes on while its data is copied, and answers changes 503 for the last seconds; then it ends. Nodes must be "
            + "stopped. Everything is read back and compared before the copy counts; what is moved from stays as it is, and is "
            + "marked: it is not served any more.",
        options: [
            Option(
                "from", "DIR|URL", "What to move: a data directory, or a database such as postgres://USER@HOST/NAME.",
                isSecret: true),
            Option(
                "to", "DIR|URL", "Where to: an empty database, or a directory that is empty or new.", isSecret: true),
            .adminSocket,
            Option(
                "stop-limit", "SECONDS", "For how long a server that serves takes no changes at most.", default: "120"),
            Option("key-file", "FILE", "To a directory: the secret.key of the nodes, which is copied into it."),
            .json("one object a line for all that was compared: name, rows and checksum"),
        ]
    ) { invocation in
        let (from, to) = (try place("from", invocation), try place("to", invocation))
        let begin = ContinuousClock.now
        let display = ProgressDisplay(.items)
        defer { display.end() }
        let stage = MoveStage()
        let compared: @Sendable (String, Int64, String) -> Void = { name, rows, checksum in
            display.end()
            let json: JSON = ["name": .string(name), "rows": .integer(rows), "checksum": .string(checksum)]
            guard !invocation.printJSON(json) else { return }
            Terminal.print("\(name): \(rows.counted("row")), checksum \(checksum), the same on both sides")
        }
        let report: @Sendable (ServerMove.Event) -> Void = { event in
            switch event {
            case .completing: stage.reach(.completing)
            case .progress(let name, let rows, let isComparison):
                display.show(rows, notes: [isComparison ? "comparing \(name)" : "copying \(name)"])
            case .compared(let name, let rows, let checksum): compared(name, rows, checksum)
            }
        }
        let advice: String
        var stop = ""
        switch (from, to) {
        case (.directory(let directory), .database(let url)):
            guard invocation["key-file"] == nil else {
                throw UsageError(
                    description: "--key-file is for a move to a directory.", command: invocation.command)
            }
            let server = Administration(running: directory, socket: invocation["admin-socket"])
            let online = OnlineMoveAnswer(stage: stage, display: display, compared: compared)
            let limit = try invocation.count("stop-limit", upTo: 86_400) ?? 120
            let stopped = try await Signals.cleaningUp({ stage.sayThatItIsInterrupted() }) {
                if let stopped = try await online.ask(server, toMove: directory, to: url, stoppedFor: limit) {
                    return Duration?.some(stopped)
                }
                let owner = try AssumedOwner(of: directory)
                defer { owner?.end() }
                try ServerMove.run(fromDirectory: directory, toDatabase: url, report: report)
                return nil
            }
            if let stopped {
                let seconds = (stopped / .milliseconds(100)).rounded(.up) / 10
                stop = " The server took no changes for \(seconds) s, and has ended."
            }
            advice =
                "Serve it with --database and another directory in --data, and give each node the secret.key of "
                + "\(directory). \(directory) is marked as moved, and no server uses it any more. Docs/Nodes.md, \"After the "
                + "move\", says what else changes."
        case (.database(let url), .directory(let directory)):
            guard invocation["key-file"] == nil || !KeyEnvironment.givesKeys else {
                throw UsageError(
                    description: "Give --key-file or \(KeyEnvironment.names), not both.", command: invocation.command)
            }
            // Root may read a file that the owner of the directory may not.
            let key = try ServerMove.key(invocation["key-file"], for: directory)
            let isNew = access(directory, F_OK) != 0
            let owner = try AssumedOwner(of: directory)
            defer { owner?.end() }
            try await Signals.cleaningUp({ stage.sayThatItIsInterrupted() }) {
                try ServerMove.run(fromDatabase: url, toDirectory: directory, key: key, report: report)
            }
            if isNew, let advice = DirectoryOwner(of: directory)?.advice(onNew: directory) {
                display.end()
                Terminal.complain("martlet: \(advice)")
            }
            advice =
                "Start the server with --data \(directory) and without --database. The database is marked as moved, and no "
                + "node starts on it any more. Docs/Nodes.md, \"After the move\", says what else changes."
        default:
            throw UsageError(
                description:
                    "Give a data directory and a database: --from DIR --to postgres://…, or the other way round.",
                command: invocation.command)
        }
        display.end()
        let seconds = (ContinuousClock.now - begin) / .seconds(1)
        Terminal.complain("martlet: moved in \(Int64(seconds.rounded(.up))) s.\(stop) \(advice)")
    }

    private enum Place {
        case directory(String)
        case database(String)
    }

    private static func place(_ option: String, _ invocation: Invocation) throws -> Place {
        guard let text = invocation[option], !text.isEmpty else {
            throw UsageError(description: "Give --\(option).", command: invocation.command)
        }
        return text.hasPrefix("postgres://") || text.hasPrefix("postgresql://") ? .database(text) : .directory(text)
    }
}

/// How far a move has come, for the message about an interruption.
private final class MoveStage: Sendable {
    enum Stage {
        case copying
        /// The source may be marked as moved already.
        case completing
        /// A server moves its own data.
        case online
    }

    private let stage = Mutex(Stage.copying)

    func reach(_ stage: Stage) { self.stage.withLock { $0 = stage } }

    func sayThatItIsInterrupted() {
        let sentence =
            switch stage.withLock(\.self) {
            case .copying: "Nothing was moved."
            case .completing:
                "It was in its last step. Run 'martlet move' again: if what is moved is marked as moved, the refusal says "
                    + "what to do."
            case .online: "The server gives the move up, unless it was in its last step: its log says which."
            }
        Terminal.complain("martlet: interrupted. \(sentence)")
    }
}

/// Asks a server that runs to move its data, and shows the events of its answer.
private final class OnlineMoveAnswer: Sendable {
    private struct State {
        var rest: [UInt8] = []
        /// Whether the server has begun to answer.
        var hasBegun = false
        var failure: String?
        var stopped: Duration?
    }

    private let state = Mutex(State())
    private let stage: MoveStage
    private let display: ProgressDisplay
    private let compared: @Sendable (String, Int64, String) -> Void

    init(
        stage: MoveStage, display: ProgressDisplay, compared: @escaping @Sendable (String, Int64, String) -> Void
    ) {
        (self.stage, self.display, self.compared) = (stage, display, compared)
    }

    /// Moves the data of a running server.
    /// - Parameters:
    ///   - directory: The data directory that the server must have.
    ///   - limit: For how many seconds the server takes no changes at most.
    /// - Returns: How long the server took no changes; nil if no server runs.
    func ask(
        _ server: Administration, toMove directory: String, to url: String, stoppedFor limit: Int
    ) async throws -> Duration? {
        var body: [String: JSON] = ["database": .string(url), "stopLimitSeconds": .integer(Int64(limit))]
        body["directory"] = ServerMove.identity(of: directory).map(JSON.string)
        let request = HTTPRequest(.post, "/move", authority: "admin", body: JSON.object(body).bytes)
        let response: HTTPResponse?
        do {
            response = try await server.receiveRunning(request) { [self] piece in
                take(piece)
                return true
            }
        } catch {
            // The server may end before it has ended its answer.
            let (stopped, hasBegun) = state.withLock { ($0.stopped, $0.hasBegun) }
            if let stopped { return stopped }
            guard hasBegun else { throw error }
            throw ServerError(
                "\(error) The server's log says what became of the move. If the server runs, nothing was moved, and it goes "
                    + "on.")
        }
        guard let response else { return nil }
        _ = try AdministrationAnswer.document(of: HTTPResponse(response.status, body: response.body))
        let (stopped, failure) = state.withLock { ($0.stopped, $0.failure) }
        if let failure { throw ServerError(failure) }
        guard let stopped else {
            throw ServerError("The server's answer broke off. Its log says what became of the move.")
        }
        return stopped
    }

    private func take(_ piece: [UInt8]) {
        stage.reach(.online)
        let lines = state.withLock { state in
            var lines = (state.rest + piece).split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
            state.rest = Array(lines.removeLast())
            state.hasBegun = true
            return lines.compactMap { try? JSON(parsing: Array($0)) }
        }
        for line in lines { show(line) }
    }

    private func show(_ event: JSON) {
        if let progress = event["progress"], let name = progress["name"]?.string {
            let isComparison = progress["isComparison"]?.bool == true
            let work = isComparison ? "comparing \(name)" : "copying \(name)"
            display.show(progress["rows"]?.integer ?? 0, notes: [work])
        }
        if let row = event["compared"], let name = row["name"]?.string {
            compared(name, row["rows"]?.integer ?? 0, row["checksum"]?.string ?? "")
        }
        if event["stage"]?.string == "stopped" {
            display.end()
            Terminal.complain("martlet: the server takes no changes now; the rest is copied.")
        }
        if let moved = event["moved"] {
            state.withLock { $0.stopped = .milliseconds(moved["stoppedMilliseconds"]?.integer ?? 0) }
        }
        if let failure = event["failure"]?.string { state.withLock { $0.failure = failure } }
    }
}
