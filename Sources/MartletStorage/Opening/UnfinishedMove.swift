import Glibc
import MartletCore

/// The mark of a data directory into which data is being moved. While the mark exists, servers refuse to use the
/// directory, and another move may start over in it.
enum UnfinishedMove {
    static let mark = "unfinished-move"
    /// The names of the directories that a move makes in addition to the database.
    static let parts = ["progress", "storage", "payloads"]
    /// The names of the files that the directory may contain before a move.
    private static let allowed: Set<String> = ["lock", keyName]
    /// The name of the file with the keys.
    static let keyName = "secret.key"

    /// Throws an error if data is being moved into a directory.
    static func refuse(_ path: String) throws(StorageError) {
        guard !StorageDirectory.exists("\(path)/\(mark)") else {
            throw StorageError(
                .unavailable,
                "A move into '\(path)' was not finished. If the database says that it was moved here, take its mark away "
                    + "as it says. Then run 'martlet move' again, or remove the directory.")
        }
    }

    /// Marks a directory, and removes the files that an unfinished move has left in it.
    /// - Throws: `StorageError` if the directory contains any other files that are not in `allowed`.
    static func begin(in directory: StorageDirectory) throws(StorageError) {
        if StorageDirectory.exists(directory.file(mark)) {
            for name in try StorageDirectory.entries(of: directory.path) where isOfMove(name) {
                removeAll(directory.file(name))
            }
        }
        let entries = Set(try StorageDirectory.entries(of: directory.path)).subtracting(allowed).subtracting([mark])
        guard entries.isEmpty else {
            throw StorageError(
                .unavailable,
                "'\(directory.path)' is not empty: data is moved into an empty or a new directory, which may have "
                    + "secret.key in it.")
        }
        try directory.makePrivateFile(mark)
        for name in parts { try directory.makePrivateDirectory(name) }
    }

    /// Removes the mark, so that servers may use the directory.
    static func end(in directory: StorageDirectory) throws(StorageError) {
        guard unlink(directory.file(mark)) == 0 else { throw StorageError(failed: "remove", directory.file(mark)) }
        try StorageDirectory.synchronize(directory.path)
    }

    /// Whether an unfinished move has made an entry of the directory. Other files, such as a key that an operator has
    /// put aside, must not be removed.
    private static func isOfMove(_ name: String) -> Bool {
        let database = SQLiteStorage.Settings.databaseName
        guard !parts.contains(name), !["", "-wal", "-shm", "-journal"].contains(where: { name == database + $0 }) else {
            return true
        }
        // A kill while the key was copied leaves a temporary file, whose name ends with the number of the process.
        let prefix = "\(keyName)."
        let digits = name.dropFirst(prefix.count)
        return name.hasPrefix(prefix) && !digits.isEmpty && digits.utf8.allSatisfy { (0x30...0x39).contains($0) }
    }

    private static func removeAll(_ path: String) {
        guard unlink(path) != 0 else { return }
        for name in (try? StorageDirectory.entries(of: path)) ?? [] { removeAll("\(path)/\(name)") }
        rmdir(path)
    }
}
