import Glibc
import MartletCore
import Synchronization

/// The place in the data directory for the copy of the database that a snapshot reads. There is only one copy at a
/// time. If the process ends before the copy is removed, the next start removes it.
final class SnapshotLocation: Sendable {
    let database: String
    private let directory: String
    private let isTaken: Taken
    private let maps: FileProgressMaps?
    private let isLeft = Locked(false)

    /// Whether a copy exists or is being made. All locations of one `SQLiteStorage` share this object.
    final class Taken: Sendable {
        fileprivate let flag = Atomic(false)
    }

    /// Reserves the directory of the copy, so that only one copy is made at a time.
    /// - Parameter maps: Until `leave` is called, they delete no progress map, not even when its delivery ends. Nil if
    ///   no map is read with the copy.
    /// - Throws: `StorageError`; `.locked` if another copy is being made.
    init(in data: StorageDirectory, _ taken: Taken, keeping maps: FileProgressMaps? = nil) throws(StorageError) {
        guard !taken.flag.exchange(true, ordering: .acquiringAndReleasing) else {
            throw StorageError(.locked, "A backup or a move has a copy of the database already; wait for its end.")
        }
        isTaken = taken
        self.maps = maps
        directory = data.file(Self.name)
        database = "\(directory)/\(SQLiteStorage.Settings.databaseName)"
        maps?.hold()
        try data.makePrivateDirectory(Self.name)
        let descriptor = open(database, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw StorageError(failed: "make", database) }
        close(descriptor)
    }

    deinit {
        leave()
    }

    /// Removes the copy, which may take a while, and then allows another copy.
    func leave() {
        let wasLeft = isLeft.withLock { isLeft in
            defer { isLeft = true }
            return isLeft
        }
        guard !wasLeft else { return }
        Self.clean(directory)
        maps?.release()
        isTaken.flag.store(false, ordering: .releasing)
    }

    private static let name = "snapshot"

    /// Removes a copy that an earlier process left.
    static func clean(in data: StorageDirectory) {
        clean(data.file(name))
    }

    private static func clean(_ directory: String) {
        guard let names = try? StorageDirectory.entries(of: directory) else { return }
        for name in names { unlink("\(directory)/\(name)") }
        rmdir(directory)
    }
}
