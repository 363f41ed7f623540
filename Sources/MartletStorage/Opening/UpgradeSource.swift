import Glibc
import MartletCore

/// The files of a data directory before its database is upgraded. While the files are copied, no other code has any of
/// them open.
public struct UpgradeSource: Sendable {
    public struct File: Hashable, Sendable {
        public let member: SnapshotMember
        public let path: String
        /// The size in bytes.
        public let size: Int64
    }

    /// The names of the migration steps that the database has had.
    public let schema: [String]
    /// True if an earlier upgrade by the same version may have been interrupted. An existing copy is then kept, because
    /// it was made before the first step of that upgrade.
    public let mayBeInterrupted: Bool
    /// The files to copy; the first is the database.
    public let files: [File]

    public var byteCount: Int64 { files.reduce(0) { $0 + $1.size } }

    init(_ directory: StorageDirectory, schema: [String], mayBeInterrupted: Bool) throws(StorageError) {
        self.schema = schema
        self.mayBeInterrupted = mayBeInterrupted
        var files = [try Self.file(.database, directory.file(SQLiteStorage.Settings.databaseName))]
        let bodies = "payloads/containers/\(PayloadBodies.container)"
        for (folder, prefix) in [("progress", "progress"), (bodies, "payloads")] {
            guard access(directory.file(folder), F_OK) == 0 else { continue }
            for name in try StorageDirectory.entries(of: directory.file(folder)).sorted() {
                guard let member = SnapshotMember("\(prefix)/\(name)") else { continue }
                files.append(try Self.file(member, directory.file("\(folder)/\(name)")))
            }
        }
        self.files = files
    }

    private static func file(_ member: SnapshotMember, _ path: String) throws(StorageError) -> File {
        var status = stat()
        guard stat(path, &status) == 0 else { throw StorageError(failed: "examine", path) }
        return File(member: member, path: path, size: Int64(status.st_size))
    }
}
