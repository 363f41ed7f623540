import Glibc
import MartletCore
public import MartletModel
import MartletStorage

/// A backup in a file: an archive in the POSIX ustar format.
public struct BackupFile {
    /// The time of a backup, and whether the backup contains the server's keys.
    public struct Summary: Hashable, Sendable {
        public let createdAt: Timestamp
        /// True if the backup contains the server's keys. Without the keys, the secrets in the backup cannot be
        /// decrypted.
        public let holdsKeys: Bool
    }

    private static let keysLimit: Int64 = 64 << 10

    private var archive: ArchiveReader

    private init(_ source: @escaping (Int) throws -> [UInt8]) {
        archive = ArchiveReader(source)
    }

    /// Reads a whole backup and verifies it.
    /// - Throws: `ServerError` if the backup is incomplete or was modified.
    public static func check(_ path: String) throws(ServerError) -> Summary {
        try reading(path) { file in try file.walk(into: nil) }
    }

    /// Restores a backup to a data directory. All data is on disk when this returns. On an error, no files are left.
    /// - Parameter data: The path of an empty or missing directory.
    /// - Parameter progress: Called with the number of bytes read so far, and the size of the backup in bytes.
    /// - Throws: `ServerError` that names the cause.
    public static func restore(
        _ path: String, into data: String, progress: @escaping (Int64, Int64) -> Void = { _, _ in }
    ) throws(ServerError) -> Summary {
        try reading(path, as: data, progress: progress) { file in
            let restoration = try StorageRestoration(into: data)
            do {
                let summary = try file.walk(into: restoration)
                try restoration.finish()
                return summary
            } catch {
                restoration.abandon()
                throw error
            }
        }
    }

    /// Opens a backup and performs work on it.
    /// - Parameter directory: If the process runs as root, it performs the work as the owner of this directory. nil
    ///   means that the work is performed as the current user.
    private static func reading(
        _ path: String, as directory: String? = nil, progress: @escaping (Int64, Int64) -> Void = { _, _ in },
        _ work: (inout BackupFile) throws -> Summary
    ) throws(ServerError) -> Summary {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        func failure() -> ServerError { ServerError("Cannot read \(path): \(String(cString: strerror(errno))).") }
        guard descriptor >= 0 else { throw failure() }
        defer { close(descriptor) }
        let owner = if let directory { try AssumedOwner(of: directory) } else { AssumedOwner?.none }
        defer { owner?.end() }
        var status = stat()
        let size = fstat(descriptor, &status) == 0 ? Int64(status.st_size) : 0
        var done: Int64 = 0
        var file = BackupFile { count in
            var piece = [UInt8](repeating: 0, count: count)
            let got = piece.withUnsafeMutableBytes { Glibc.read(descriptor, $0.baseAddress, count) }
            guard got >= 0 else { throw failure() }
            piece.removeLast(count - got)
            done += Int64(got)
            progress(done, size)
            return piece
        }
        do {
            return try work(&file)
        } catch let error as ServerError {
            throw error
        } catch let error as StorageError {
            throw ServerError(error.detail)
        } catch {
            throw ServerError("\(path): \(error)")
        }
    }

    /// Reads and verifies all members of the backup.
    /// - Parameter restoration: The destination to restore the members to; nil to only verify them.
    private mutating func walk(into restoration: StorageRestoration?) throws -> Summary {
        let manifest = try readManifest()
        var seen: Set<SnapshotMember> = []
        var hasKeys = false
        while let header = try archive.next() {
            if header.name == Backup.keysName, !hasKeys {
                hasKeys = true
                let keys = try archive.readAll(limit: Self.keysLimit)
                if let restoration { try SecretFile.write(keys, to: "\(restoration.path)/\(Backup.keysName)") }
                continue
            }
            guard let member = SnapshotMember(header.name), seen.insert(member).inserted else {
                throw BackupError.damaged("'\(header.name)' does not belong there")
            }
            try restoration?.beginFile(member)
            while let piece = try archive.read(ArchiveReader.pieceSize) { try restoration?.write(piece) }
            try restoration?.endFile()
        }
        guard seen.contains(.database) else { throw BackupError.damaged("it has no database") }
        guard hasKeys == manifest.holdsKeys else { throw BackupError.damaged("its keys are missing") }
        return Summary(createdAt: manifest.createdAt, holdsKeys: hasKeys)
    }

    private mutating func readManifest() throws -> BackupManifest {
        do {
            guard try archive.next()?.name == BackupManifest.name else { throw BackupError.foreign }
        } catch is BackupError {
            throw BackupError.foreign
        }
        let manifest = try BackupManifest(parsing: try archive.readAll(limit: BackupManifest.sizeLimit))
        guard SQLiteStorage.knows(schema: manifest.schema) else { throw BackupError.newer }
        return manifest
    }
}
