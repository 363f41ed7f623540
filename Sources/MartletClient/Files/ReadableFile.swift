#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

/// A file for random-access reading by any number of threads at a time.
final class ReadableFile: Sendable {
    /// The file has become shorter, or its disk has failed.
    struct Failure: Error {}

    let length: Int64
    private let descriptor: Int32

    /// Opens a file; nil if it cannot be opened, or if it is not a regular file.
    init?(_ path: String) {
        descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            close(descriptor)
            return nil
        }
        length = Int64(status.st_size)
    }

    deinit {
        close(descriptor)
    }

    /// Reads exactly `count` bytes from an offset.
    /// - Throws: `Failure` if there are fewer bytes, or if they cannot be read.
    func read(at offset: Int64, count: Int) throws(Failure) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        var filled = 0
        while filled < count {
            let taken = bytes.withUnsafeMutableBytes { buffer in
                pread(descriptor, buffer.baseAddress! + filled, count - filled, off_t(offset) + off_t(filled))
            }
            if taken < 0, errno == EINTR { continue }
            guard taken > 0 else { throw Failure() }
            filled += taken
        }
        return bytes
    }
}
