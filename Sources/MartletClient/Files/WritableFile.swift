#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

/// A file that is written from front to back, readable by this user of the system alone.
final class WritableFile: Sendable {
    private let descriptor: Int32

    /// Opens a file for writing at its end; nil where that is not possible.
    /// - Parameter isNew: Whether there must not be such a file yet.
    init?(_ path: String, isNew: Bool) {
        descriptor = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_APPEND | (isNew ? O_EXCL : 0), 0o600)
        guard descriptor >= 0 else { return nil }
    }

    deinit {
        close(descriptor)
    }

    /// - Returns: false where the disk is full or fails.
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

    /// Waits until what was written is on the disk.
    func synchronize() -> Bool { fsync(descriptor) == 0 }
}
