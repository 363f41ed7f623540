#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

/// A file that is written sequentially and that only this system user may read.
final class WritableFile: Sendable {
    private let descriptor: Int32

    /// Opens a file for appending, and creates it if it does not exist; nil if that fails.
    /// - Parameter isNew: If true, opening fails if the file exists.
    init?(_ path: String, isNew: Bool) {
        descriptor = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_APPEND | (isNew ? O_EXCL : 0), 0o600)
        guard descriptor >= 0 else { return nil }
    }

    deinit {
        close(descriptor)
    }

    /// Appends bytes to the file.
    /// - Returns: false if the disk is full or fails.
    func append(_ bytes: UnsafeRawBufferPointer) -> Bool {
        var rest = bytes
        while !rest.isEmpty {
            let taken = write(descriptor, rest.baseAddress!, rest.count)
            if taken < 0, errno == EINTR { continue }
            guard taken > 0 else { return false }
            rest = UnsafeRawBufferPointer(rebasing: rest[taken...])
        }
        return true
    }

    func truncate() -> Bool { ftruncate(descriptor, 0) == 0 }

    /// Waits until all written data is on disk.
    /// - Returns: Whether that succeeded.
    func synchronize() -> Bool { fsync(descriptor) == 0 }
}
