import Glibc
import MartletCore
import MartletModel
import MartletStorage
import Synchronization

/// Manages the folder for backups in the data directory: makes backups, lists the files, and checks them.
///
/// These backups never contain the server's keys. Only one backup is made or checked at a time, and this work continues
/// if the client disconnects.
final class BackupDirectory: Sendable {
    /// The number of backups that are kept in the folder.
    ///
    /// Copies made before upgrades are not counted.
    static let kept = 3
    /// The number of bytes that must stay free on the disk while a backup is written, because the server keeps writing
    /// too.
    private static let spareRoom: Int64 = 64_000_000

    enum Work: Hashable, Sendable {
        case make
        case verify(String)
    }

    struct State: Sendable {
        var isRunning = false
        /// The backup that is being made or checked now; nil if there is none.
        ///
        /// If a backup is being made, `written` is the number of its bytes that have been written so far.
        var work: Work?
        var written: Int64 = 0
        /// The reason why the last backup or the last check failed; nil if it succeeded, or if other work has begun
        /// since.
        var failure: String?
        /// The result of checking each file, by file name. A nil value means that the file is complete and unchanged;
        /// otherwise the value says what is wrong with it.
        ///
        /// A file that was not checked is not in the dictionary.
        var findings: [String: String?] = [:]
    }

    /// A file in the folder: a backup, or a copy that was made before an upgrade.
    struct Entry: Hashable, Sendable {
        let name: String
        let bytes: Int64
        let createdAt: Timestamp
        /// Whether the file is a copy made before an upgrade, and not a backup that somebody asked for.
        let isCopyBeforeUpgrade: Bool
    }

    let source: BackupSource
    private let state = Mutex(State())
    private let orders: AsyncStream<Work>
    private let order: AsyncStream<Work>.Continuation

    init(_ source: BackupSource) {
        self.source = source
        (orders, order) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    private var folder: String { "\(source.dataDirectory)/\(Upgrade.folder)" }

    var current: State { state.withLock(\.self) }

    /// Returns the backups and the copies before upgrades in the folder, newest first; an empty array if there is no
    /// folder.
    /// - Throws: `ServerError` if the folder cannot be read.
    func entries() throws(ServerError) -> [Entry] {
        guard access(folder, F_OK) == 0 else { return [] }
        return try BackupName.names(in: folder).compactMap { name -> Entry? in
            let backup = BackupName(name)
            guard backup != nil || UpgradeCopyName.isCopy(name) else { return nil }
            var status = stat()
            guard lstat(path(of: name), &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
            return Entry(
                name: name, bytes: Int64(status.st_size),
                createdAt: backup?.time ?? Timestamp(seconds: Int64(status.st_mtim.tv_sec)),
                isCopyBeforeUpgrade: backup == nil)
        }.sorted { ($0.createdAt, $0.name) > ($1.createdAt, $1.name) }
    }

    /// Returns the path of a file in the folder; nil if there is no file with this name.
    func path(ofEntry name: String) throws(ServerError) -> String? {
        try entries().contains { $0.name == name } ? path(of: name) : nil
    }

    private func path(of name: String) -> String { "\(folder)/\(name)" }

    /// Begins to make or check a backup.
    /// - Returns: The reason why the work cannot begin; nil if it has begun.
    func begin(_ work: Work) -> String? {
        state.withLock { state in
            guard state.isRunning else { return "No server runs that could do it: 'martlet backup' works without one." }
            guard state.work == nil else { return "A backup is being made or read already: wait until it is done." }
            (state.work, state.written, state.failure) = (work, 0, nil)
            order.yield(work)
            return nil
        }
    }

    /// Makes and checks backups as `begin` requests, until the task is canceled.
    func run() async {
        state.withLock { $0.isRunning = true }
        for await work in orders {
            let failure = await perform(work)
            state.withLock { state in
                state.work = nil
                state.failure = failure
            }
        }
        state.withLock { $0.isRunning = false }
    }

    /// Makes or checks a backup.
    /// - Returns: The reason why the work failed; nil if it succeeded.
    private func perform(_ work: Work) async -> String? {
        do {
            // The backup is not made or checked on an event loop, because event loops are needed for sending pushes.
            try await withTaskExecutorPreference(globalConcurrentExecutor) {
                switch work {
                case .make: try await make()
                case .verify(let name): verify(name)
                }
            }
            return nil
        } catch let error as StorageError {
            return error.detail
        } catch {
            return "\(error)"
        }
    }

    private func make() async throws {
        try SecretFile.makeDirectory(folder)
        try BackupName.removeAbandoned(in: folder)
        let backup = try await source.begin(withKeys: false)
        let name = BackupName(backup.createdAt).description
        do {
            let file = try NewFile(path(of: name)) { [self] written in state.withLock { $0.written = written } }
            try await backup.write { piece in
                if let free = DiskRoom.figures(of: folder, reserve: 0)?.free, free < Self.spareRoom {
                    throw ServerError("There is no room for a backup on the disk of the data directory.")
                }
                try file.write(piece)
            }
            _ = try BackupFile.check(file.temporary)
            try file.complete()
        } catch {
            await backup.snapshot.close()
            source.log.write(.warning, "A backup could not be made: \(error)")
            throw error
        }
        await backup.snapshot.close()
        state.withLock { $0.findings[name] = .some(nil) }
        await source.record(backup)
        try BackupName.removeOlder(in: folder, keeping: Self.kept)
        forgetRemoved()
    }

    private func verify(_ name: String) {
        var finding: String?
        do throws(ServerError) {
            _ = try BackupFile.check(path(of: name))
        } catch {
            finding = error.description
        }
        state.withLock { $0.findings[name] = .some(finding) }
        forgetRemoved()
    }

    /// Removes the results of checking files that no longer exist.
    private func forgetRemoved() {
        guard let names = try? Set(entries().map(\.name)) else { return }
        state.withLock { state in state.findings = state.findings.filter { names.contains($0.key) } }
    }
}
