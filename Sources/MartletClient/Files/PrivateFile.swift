#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

/// Small files that are read and replaced as a whole, and that only this system user may read.
enum PrivateFile {
    /// Reads a file.
    /// - Parameter limit: The maximum size in bytes; a larger file counts as unreadable.
    /// - Returns: nil if the file cannot be read.
    static func read(_ path: String, limit: Int) -> [UInt8]? {
        guard let file = ReadableFile(path), file.length <= limit else { return nil }
        return try? file.read(at: 0, count: Int(file.length))
    }

    /// Replaces a file with a new file, after the new file has been completely written to disk.
    /// - Returns: Whether the replacement succeeded; otherwise the old file is unchanged.
    static func replace(_ path: String, with bytes: [UInt8]) -> Bool {
        makeFolder(of: path)
        let new = path + ".new"
        unlink(new)
        guard let file = WritableFile(new, isNew: true) else { return false }
        guard bytes.withUnsafeBytes({ file.append($0) }), file.synchronize(), rename(new, path) == 0 else {
            unlink(new)
            return false
        }
        return true
    }

    /// Moves a file, replacing any file at the new path. Both paths must be on the same file system.
    /// - Returns: Whether that succeeded.
    static func move(_ path: String, to newPath: String) -> Bool { rename(path, newPath) == 0 }

    static func remove(_ path: String) {
        unlink(path)
    }

    /// Creates the missing folders above a file.
    static func makeFolder(of path: String) {
        guard let slash = path.lastIndex(of: "/"), slash > path.startIndex else { return }
        let folder = String(path[..<slash])
        guard access(folder, F_OK) != 0 else { return }
        makeFolder(of: folder)
        mkdir(folder, 0o700)
    }
}
