import Glibc
import MartletCore

/// The mark of a data directory whose data was moved to another place. Servers refuse to use such a directory, because
/// they would send scheduled and unfinished notifications a second time. The mark is a file that contains the name of
/// the place to which the data was moved.
enum MovedAway {
    static let mark = "moved"

    static func refuse(_ directory: StorageDirectory) throws(StorageError) {
        let path = directory.file(mark)
        guard StorageDirectory.exists(path) else { return }
        throw StorageError(
            .unavailable,
            "The data of '\(directory.path)' was moved to \(place(path) ?? "another place"): serve that. If that move was not "
                + "completed, or if you give up what was moved, remove '\(path)'.")
    }

    /// Marks a directory. When the call returns, the mark has been flushed to disk.
    /// - Parameter place: The name of the place to which the data was moved, for messages.
    static func mark(_ directory: StorageDirectory, to place: String) throws(StorageError) {
        let path = directory.file(mark)
        let file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard file >= 0 else { throw StorageError(failed: "open", path) }
        defer { close(file) }
        let text = Array(place.utf8)
        guard write(file, text, text.count) == text.count else { throw StorageError(failed: "write", path) }
        guard fsync(file) == 0 else { throw StorageError(failed: "synchronize", path) }
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
