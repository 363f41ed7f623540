import MartletCrypto
import MartletModel
import MartletStorage

/// A backup that is being written: an archive of the storage's contents at one point in time.
struct Backup: Sendable {
    static let keysName = "secret.key"
    /// The size of the pieces in which the archive is written, in bytes. The pieces are large, because passing on a
    /// piece has a fixed cost.
    private static let pieceSize = 256 << 10

    let snapshot: StorageSnapshot
    let createdAt: Timestamp
    /// The contents of the file with the server's keys; nil for a backup without the keys.
    let keys: [UInt8]?

    /// Writes the archive.
    /// - Parameter write: Called with each piece of the archive, in order.
    func write(_ write: ([UInt8]) async throws -> Void) async throws {
        var archive = ArchiveWriter(time: createdAt.seconds)
        let manifest = BackupManifest(createdAt: createdAt, schema: snapshot.schema, holdsKeys: keys != nil)
        try await write(try archive.member(BackupManifest.name, manifest.bytes))
        if let keys { try await write(try archive.member(Self.keysName, keys)) }
        try await snapshot.forEachFile { file in
            try await write(try archive.begin(file.member.name, size: file.size))
            var index: Int64 = 0
            while index < file.size {
                let piece = try await file.read(at: index, count: Self.pieceSize)
                try archive.add(piece)
                try await write(piece)
                index += Int64(piece.count)
            }
            let padding = try archive.end()
            if !padding.isEmpty { try await write(padding) }
        }
        try await write(try archive.finish())
    }
}
