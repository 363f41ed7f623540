import Glibc
import MartletCore
import Synchronization

/// The migration state of each hub, stored in the data directory.
final class MigrationStates: Sendable {
    private let directory: String
    private let states = Mutex<[Hub.ID: MigrationState]>([:])

    init(directory: String) {
        self.directory = directory
    }

    /// Returns the migration state of a hub.
    /// - Throws: `ServerError` if the file of the state cannot be opened.
    func state(of hub: Hub.ID) throws(ServerError) -> MigrationState {
        try states.withLock { states throws(ServerError) in
            if let known = states[hub] { return known }
            try SecretFile.makeDirectory(directory)
            let state = try MigrationState("\(directory)/\(hub.rawValue)")
            states[hub] = state
            return state
        }
    }
}

/// The ledger of one hub's migration, with the file that stores it.
final class MigrationState: Sendable {
    private struct State {
        var ledger: MigrationLedger
        /// Whether the last change may be missing in the file, or may be written only in part.
        var isCut = false
    }

    private let path: String
    private let state: Mutex<State>

    /// Reads the ledger from its file, and rewrites the file without outdated lines.
    /// - Throws: `ServerError` if the file cannot be read or written.
    init(_ path: String) throws(ServerError) {
        self.path = path
        let ledger = MigrationLedger(parsing: try SecretFile.readAll(path) ?? [])
        try SecretFile.write(Array(ledger.text.utf8), to: path)
        state = Mutex(State(ledger: ledger))
    }

    func read<Value: Sendable>(_ work: (MigrationLedger) -> Value) -> Value { state.withLock { work($0.ledger) } }

    /// Sets entries of the ledger.
    ///
    /// The entries are on disk when this returns.
    func set(_ entries: [(MigrationLedger.Key, MigrationLedger.Entry)]) throws(ServerError) {
        guard !entries.isEmpty else { return }
        try state.withLock { state throws(ServerError) in
            for (key, entry) in entries { state.ledger.set(key, entry) }
            try append(entries.map { MigrationLedger.line($0.0, $0.1) }.joined(), &state)
        }
    }

    func setCheckpoint(_ text: String) throws(ServerError) {
        try state.withLock { state throws(ServerError) in
            state.ledger.setCheckpoint(text)
            try append(MigrationLedger.line(checkpoint: text), &state)
        }
    }

    func endPass() throws(ServerError) {
        try state.withLock { state throws(ServerError) in
            state.ledger.endPass()
            try rewrite(&state)
        }
    }

    /// Adds lines to the file. If an earlier call has failed, the file is rewritten instead, because it may end with an
    /// incomplete line and may lack changes that the ledger contains.
    private func append(_ text: String, _ state: inout State) throws(ServerError) {
        guard !state.isCut else { return try rewrite(&state) }
        state.isCut = true
        let file = open(path, O_WRONLY | O_APPEND | O_CLOEXEC | O_NOFOLLOW)
        guard file >= 0 else { throw failure }
        defer { close(file) }
        let bytes = Array(text.utf8)
        guard write(file, bytes, bytes.count) == bytes.count, fdatasync(file) == 0 else { throw failure }
        state.isCut = false
    }

    private func rewrite(_ state: inout State) throws(ServerError) {
        state.isCut = true
        try SecretFile.write(Array(state.ledger.text.utf8), to: path)
        state.isCut = false
    }

    private var failure: ServerError { ServerError("Cannot write \(path): \(String(cString: strerror(errno))).") }
}

extension SecretFile {
    /// Returns the whole contents of a file; nil if the file does not exist.
    /// - Throws: As `read(_:limit:)`.
    static func readAll(_ path: String) throws(ServerError) -> [UInt8]? {
        var status = stat()
        guard stat(path, &status) == 0 else {
            if errno == ENOENT { return nil }
            throw failure("examine", path)
        }
        return try read(path, limit: Int(status.st_size) + 1)
    }
}
