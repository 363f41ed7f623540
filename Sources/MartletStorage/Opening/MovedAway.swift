import Glibc
import MartletCore

/// The mark of a data directory whose data was moved to another place. Servers refuse to use such a directory, because
/// they would send scheduled and unfinished notifications a second time. The mark is a file that contains the name of
/// the place to which the data was moved.
enum MovedAway {
    static let mark = "moved"

    /// Throws an error if the data of a directory was moved to another place.
    static func refuse(_ directory: String) throws(StorageError) {
        let path = "\(directory)/\(mark)"
        guard StorageDirectory.exists(path) else { return }
        throw StorageError(
            .unavailable,
            "The data of '\(directory)' was moved to \(place(path) ?? "another place"): serve that, with --database and "
                + "another directory in --data. If its hubs are not there ('martlet hub list' on a node), the move was not "
                + "completed. Remove '\(path)' only if the move was not completed, or if you give up what was moved.")
    }

    /// Marks a directory. When the call returns, the mark has been flushed to disk. If the call fails, there is either no
    /// mark or a complete one.
    /// - Parameter place: The name of the place to which the data was moved, for messages.
    static func mark(_ directory: StorageDirectory, to place: String) throws(StorageError) {
        let (path, new) = (directory.file(mark), directory.file("\(mark).new"))
        let file = open(new, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard file >= 0 else { throw StorageError(failed: "open", new) }
        defer { close(file) }
        let text = Array(place.utf8)
        guard write(file, text, text.count) == text.count else { throw StorageError(failed: "write", new) }
        guard fsync(file) == 0 else { throw StorageError(failed: "synchronize", new) }
        guard rename(new, path) == 0 else { throw StorageError(failed: "make", path) }
        try StorageDirectory.synchronize(directory.path)
    }

    /// Removes the mark of a directory whose move was not completed after all.
    static func unmark(_ directory: StorageDirectory) throws(StorageError) {
        let path = directory.file(mark)
        guard unlink(path) == 0 || errno == ENOENT else { throw StorageError(failed: "remove", path) }
        try StorageDirectory.synchronize(directory.path)
    }

    private static func place(_ path: String) -> String? {
        let file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: 4096)
        let count = read(file, &bytes, bytes.count)
        return count > 0 ? String(decoding: bytes.prefix(count), as: UTF8.self) : nil
    }
}
