import Glibc
public import MartletCore

/// Restores a backup into an empty directory. The result is either a complete data directory or the directory as it was
/// before, because the database gets its final name last. Calls block, so use this type only in a process that does
/// nothing else.
public final class StorageRestoration {
    /// The path of the data directory that is restored.
    public let path: String
    private let isNew: Bool
    private let directory: StorageDirectory
    private var file: (member: SnapshotMember, descriptor: Int32)?
    private var hasDatabase = false
    private var isOver = false

    private static let unfinishedName = "restored.db"

    /// Prepares a directory for a restoration.
    /// - Parameter path: The path of a directory that is empty or does not exist.
    /// - Throws: `StorageError` if the directory is not empty or cannot be written to.
    public init(into path: String) throws(StorageError) {
        self.path = path
        isNew = access(path, F_OK) != 0
        if !isNew, !(try StorageDirectory.entries(of: path).isEmpty) {
            throw StorageError(
                .unavailable, "'\(path)' is not empty: a backup is restored into an empty or a new directory.")
        }
        directory = try StorageDirectory(path)
        do throws(StorageError) {
            try directory.makePrivateDirectory("progress")
            for name in ["payloads", "payloads/containers", Self.bodies] { try directory.makePrivateDirectory(name) }
        } catch {
            abandon()
            throw error
        }
    }

    deinit {
        abandon()
    }

    /// Begins a file. Its content is added with `write`, and `endFile` completes it.
    /// - Throws: `StorageError` if the file already exists.
    public func beginFile(_ member: SnapshotMember) throws(StorageError) {
        let path = index(of: member)
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw StorageError(failed: "make", path) }
        file = (member, descriptor)
    }

    public func write(_ bytes: [UInt8]) throws(StorageError) {
        guard let (member, descriptor) = file else { return }
        var sent = 0
        while sent < bytes.count {
            let count = bytes.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress! + sent, $0.count - sent) }
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw StorageError(failed: "write", index(of: member)) }
            sent += count
        }
    }

    /// Completes the file that was begun, and flushes it to disk.
    public func endFile() throws(StorageError) {
        guard let (member, descriptor) = file else { return }
        guard fsync(descriptor) == 0 else { throw StorageError(failed: "synchronize", index(of: member)) }
        closeFile()
        if member == .database { hasDatabase = true }
    }

    /// Completes the data directory, flushes it to disk, and unlocks it for a server.
    public func finish() throws(StorageError) {
        guard hasDatabase else { throw StorageError(.corrupt, "There is no database in the backup.") }
        for name in ["progress", Self.bodies] { try StorageDirectory.synchronize(directory.file(name)) }
        let (old, new) = (index(of: .database), directory.file(SQLiteStorage.Settings.databaseName))
        guard rename(old, new) == 0 else { throw StorageError(failed: "name", new) }
        try StorageDirectory.synchronize(path)
        isOver = true
        directory.unlock()
    }

    /// Removes everything restored so far, unless the restoration is finished.
    public func abandon() {
        closeFile()
        guard !isOver else { return }
        isOver = true
        for name in [Self.bodies, "payloads/containers", "payloads", "progress", "."] {
            removeAll(in: directory.file(name))
        }
        directory.unlock()
        if isNew { rmdir(path) }
    }

    private static let bodies = "payloads/containers/\(PayloadBodies.container)"

    private func index(of member: SnapshotMember) -> String {
        switch member {
        case .database: directory.file(Self.unfinishedName)
        case .progressMap, .progressSlots: directory.file(member.name)
        case .payloadBody(let name): directory.file("\(Self.bodies)/\(name)")
        }
    }

    private func closeFile() {
        if let file { close(file.descriptor) }
        file = nil
    }

    /// Removes everything in a directory. The directory was empty before, so this restoration wrote everything in it.
    private func removeAll(in path: String) {
        for name in (try? StorageDirectory.entries(of: path)) ?? [] where unlink("\(path)/\(name)") != 0 {
            rmdir("\(path)/\(name)")
        }
    }
}
