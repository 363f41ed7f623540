import Glibc

/// Identifies a version of a file. The stamp changes when the file is replaced or written to.
struct FileStamp: Hashable, Sendable {
    var inode: UInt64
    /// The time of the last change, in nanoseconds since 1970.
    var changed: Int64
    var size: Int64
}

extension FileStamp {
    /// Reads the stamp of a file. Follows symbolic links, because Kubernetes updates a mounted file by changing a link.
    /// - Returns: nil if the file does not exist or cannot be examined.
    init?(path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        inode = UInt64(status.st_ino)
        changed = Int64(status.st_mtim.tv_sec) * 1_000_000_000 + Int64(status.st_mtim.tv_nsec)
        size = Int64(status.st_size)
    }
}
