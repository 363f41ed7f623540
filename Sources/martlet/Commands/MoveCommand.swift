import Glibc
import MartletModel
import MartletServer
import Synchronization

/// `martlet move`: moves all data of a stopped server between a data directory and a database on PostgreSQL.
enum MoveCommand {
    static let command = Command(
        "move",
        "Move all data of a server that is stopped from its data directory to PostgreSQL, or back. Everything is read back "
            + "and compared before the copy counts; what is moved from stays as it is, and is marked: it is not served any more.",
        options: [
            Option(
                "from", "DIR|URL", "What to move: a data directory, or a database such as postgres://USER@HOST/NAME.",
                isSecret: true),
            Option(
                "to", "DIR|URL", "Where to: an empty database, or a directory that is empty or new.", isSecret: true),
            Option("key-file", "FILE", "To a directory: the secret.key of the nodes, which is copied into it."),
            .json("one object a line for all that was compared: name, rows and checksum"),
        ]
    ) { invocation in
        let (from, to) = (try place("from", invocation), try place("to", invocation))
        let begin = ContinuousClock.now
        let display = ProgressDisplay(.items)
        defer { display.end() }
        let stage = MoveStage()
        let report: @Sendable (ServerMove.Event) -> Void = { event in
            switch event {
            case .completing: stage.isCompleting = true
            case .progress(let name, let rows, let isComparison):
                display.show(rows, notes: [isComparison ? "comparing \(name)" : "copying \(name)"])
            case .compared(let name, let rows, let checksum):
                display.end()
                let json: JSON = [
                    "name": .string(name), "rows": .integer(rows), "checksum": .string(checksum),
                ]
                guard !invocation.printJSON(json) else { return }
                Terminal.print("\(name): \(rows.counted("row")), checksum \(checksum), the same on both sides")
            }
        }
        let advice: String
        switch (from, to) {
        case (.directory(let directory), .database(let url)):
            guard invocation["key-file"] == nil else {
                throw UsageError(
                    description: "--key-file is for a move to a directory.", command: invocation.command)
            }
            let owner = try AssumedOwner(of: directory)
            defer { owner?.end() }
            try await Signals.cleaningUp({ stage.sayThatItIsInterrupted() }) {
                try ServerMove.run(fromDirectory: directory, toDatabase: url, report: report)
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
        Terminal.complain("martlet: moved in \(Int64(seconds.rounded(.up))) s. \(advice)")
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
    private let completing = Mutex(false)

    /// Whether the source may be marked as moved already.
    var isCompleting: Bool {
        get { completing.withLock { $0 } }
        set { completing.withLock { $0 = newValue } }
    }

    func sayThatItIsInterrupted() {
        Terminal.complain(
            isCompleting
                ? "martlet: interrupted in the last step. Run 'martlet move' again: if what is moved is marked as moved, the "
                    + "refusal says what to do."
                : "martlet: interrupted. Nothing was moved.")
    }
}
