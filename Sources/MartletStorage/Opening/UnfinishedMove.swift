import Glibc
import MartletCore

/// The mark of a data directory into which data is being moved. While the mark exists, servers refuse to use the
/// directory, and another move may start over in it.
enum UnfinishedMove {
    static let mark = "unfinished-move"
    /// The names of the directories that a move makes in addition to the database.
    static let parts = ["progress", "storage", "payloads"]
    /// The names of the files that the directory may contain before a move.
    private static let allowed: Set<String> = ["lock", "secret.key"]

    static func refuse(_ directory: StorageDirectory) throws(StorageError) {
        guard !StorageDirectory.exists(directory.file(mark)) else {
            throw StorageError(
                .unavailable,
                "A move into '\(directory.path)' was not finished. Run 'martlet move' again, or remove the directory.")
        }
    }

    /// Marks a directory, and removes the files that an unfinished move has left in it.
    /// - Throws: `StorageError` if the directory contains any other files that are not in `allowed`.
    static func begin(in directory: StorageDirectory) throws(StorageError) {
        if StorageDirectory.exists(directory.file(mark)) {
            for name in try StorageDirectory.entries(of: directory.path)
            where parts.contains(name) || name.hasPrefix(SQLiteStorage.Settings.databaseName)
                // A kill while the key was copied leaves a temporary file.
                || name.hasPrefix("secret.key.")
            {
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

    private static func removeAll(_ path: String) {
        guard unlink(path) != 0 else { return }
        for name in (try? StorageDirectory.entries(of: path)) ?? [] { removeAll("\(path)/\(name)") }
        rmdir(path)
    }
}
