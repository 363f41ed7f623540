import Glibc
import MartletCore
import MartletModel
import MartletStorage

/// Copies a data directory before its database is upgraded.
///
/// The copy is a backup without keys in a folder of the data directory. The copy is read and verified before it gets
/// its final name.
struct UpgradeCopy: Sendable {
    let directory: String
    let version: String
    let log: Log
    let time: any TimeSource
    /// Returns the number of free bytes on the disk of a directory; nil if unknown.
    var free: @Sendable (String) -> Int64? = { DiskRoom.figures(of: $0, reserve: 0)?.free }

    /// The number of bytes that must stay free for the upgrade itself, in addition to the space for the copy.
    private static let spare: Int64 = 64_000_000
    private static let pieceSize = 1 << 20
    private static let reportInterval: Duration = .seconds(10)

    private var folder: String { "\(directory)/\(Upgrade.folder)" }
    private var path: String { "\(folder)/\(Upgrade.copyName(before: version))" }

    /// Writes the copy, unless an interrupted upgrade has already written it.
    /// - Throws: `StorageError`; its kind is `.full` if the disk has too little free space for the copy.
    @Sendable func write(_ source: UpgradeSource) throws(StorageError) {
        if source.mayBeInterrupted, access(path, F_OK) == 0, (try? BackupFile.check(path)) != nil {
            log.write(.info, "The copy before the upgrade is there already.", ["file": .string(path)])
            return
        }
        if let free = free(directory), free < source.byteCount + Self.spare { throw noRoom(source) }
        let started = ContinuousClock.now
        log.write(.info, "Copying the data before the upgrade.", fields(source))
        do {
            try SecretFile.makeDirectory(folder)
            try makeFile(source)
            try removeOlder()
        } catch let error as StorageError {
            throw error.kind == .full ? noRoom(source) : error
        } catch {
            throw StorageError(.unavailable, "The data cannot be copied before the upgrade: \(error)")
        }
        let seconds = (ContinuousClock.now - started) / .seconds(1)
        log.write(
            .info, "Copied the data before the upgrade, and read the copy again.",
            fields(source).merging(["seconds": .double((seconds * 10).rounded() / 10)]) { $1 })
    }

    private func fields(_ source: UpgradeSource) -> [String: JSON] {
        ["file": .string(path), "bytes": .integer(source.byteCount)]
    }

    private func noRoom(_ source: UpgradeSource) -> StorageError {
        StorageError(.full, Self.refusal(version: version, bytes: source.byteCount + Self.spare))
    }

    /// Returns the error message for a disk with too little free space for the copy.
    /// - Parameter bytes: The number of bytes that must be free.
    static func refusal(version: String, bytes: Int64) -> String {
        let megabytes = (bytes + 999_999) / 1_000_000
        let size = megabytes < 1000 ? "\(megabytes) MB" : "\(megabytes / 1000).\(megabytes % 1000 / 100) GB"
        return "Upgrading to \(version) needs \(size) for a copy first: make room, or start 'martlet serve' with "
            + "--no-copy-before-upgrade."
    }

    /// Writes the copy to a temporary file, reads and verifies the file, and gives it its final name.
    private func makeFile(_ source: UpgradeSource) throws {
        let temporary = "\(path).part"
        // An earlier start may have left this file. It is removed and not overwritten, because it could be a link.
        guard unlink(temporary) == 0 || errno == ENOENT else { throw failure("remove", temporary) }
        let descriptor = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw failure("write", temporary) }
        defer { close(descriptor) }
        do {
            try writeArchive(source) { try put($0, into: descriptor, temporary) }
            guard fsync(descriptor) == 0 else { throw failure("write", temporary) }
            _ = try BackupFile.check(temporary)
            guard rename(temporary, path) == 0 else { throw failure("name", path) }
        } catch {
            unlink(temporary)
            throw error
        }
        let entry = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        defer { close(entry) }
        guard entry >= 0, fsync(entry) == 0 else { throw failure("synchronize", folder) }
    }

    private func writeArchive(_ source: UpgradeSource, _ write: ([UInt8]) throws -> Void) throws {
        var archive = ArchiveWriter(time: time.now.seconds)
        let manifest = BackupManifest(createdAt: time.now, schema: source.schema, holdsKeys: false)
        try write(try archive.member(BackupManifest.name, manifest.bytes))
        var (done, told) = (Int64(0), ContinuousClock.now)
        for file in source.files {
            try write(try archive.begin(file.member.name, size: file.size))
            try forEachPiece(of: file) { piece in
                try archive.add(piece)
                try write(piece)
                done += Int64(piece.count)
                guard ContinuousClock.now - told >= Self.reportInterval else { return }
                told = .now
                log.write(
                    .info, "Copying the data before the upgrade.",
                    fields(source).merging(["done": .integer(done)]) { $1 })
            }
            try write(try archive.end())
        }
        try write(try archive.finish())
    }

    private func forEachPiece(of file: UpgradeSource.File, _ visit: ([UInt8]) throws -> Void) throws {
        let descriptor = open(file.path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        guard descriptor >= 0 else { throw failure("read", file.path) }
        defer { close(descriptor) }
        var left = file.size
        while left > 0 {
            var piece = [UInt8](repeating: 0, count: Int(min(left, Int64(Self.pieceSize))))
            let count = piece.withUnsafeMutableBytes { Glibc.read(descriptor, $0.baseAddress, $0.count) }
            guard count > 0 else { throw failure("read", file.path) }
            piece.removeLast(piece.count - count)
            left -= Int64(count)
            try visit(piece)
        }
    }

    private func put(_ bytes: [UInt8], into descriptor: Int32, _ path: String) throws {
        var sent = 0
        while sent < bytes.count {
            let count = bytes.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress! + sent, $0.count - sent) }
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw failure("write", path) }
            sent += count
        }
    }

    private func removeOlder() throws {
        guard let stream = opendir(folder) else { throw failure("list", folder) }
        defer { closedir(stream) }
        var files: [String: Int64] = [:]
        while let entry = readdir(stream) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                pointer.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            var status = stat()
            guard stat("\(folder)/\(name)", &status) == 0 else { continue }
            files[name] = Int64(status.st_mtim.tv_sec) * 1_000_000_000 + Int64(status.st_mtim.tv_nsec)
        }
        for name in UpgradeCopyName.expired(files) {
            guard unlink("\(folder)/\(name)") == 0 else { throw failure("remove", "\(folder)/\(name)") }
        }
    }

    private func failure(_ verb: String, _ path: String) -> StorageError {
        let code = errno
        let kind: StorageError.Kind = code == ENOSPC || code == EDQUOT ? .full : .unavailable
        return StorageError(kind, "Cannot \(verb) \(path): \(String(cString: strerror(code))).")
    }
}
