import Glibc
public import MartletHTTP
import Synchronization

/// A file that only its owner may read. It gets its name when it is complete and on disk.
///
/// Until then the file has no name, and disappears when the process ends, for whatever reason. Some file systems do not
/// support files without a name. There, the file has a temporary name until it is complete, and is removed if this
/// object is released earlier.
public final class NewFile: HTTPBodyWriter {
    public let path: String
    /// The path at which the file can be read until it is complete.
    public let temporary: String
    private let descriptor: Int32
    private let isNamed: Bool
    private let state = Mutex<(failure: ServerError?, isComplete: Bool)>((nil, false))
    private let written = Atomic<Int64>(0)
    private let progress: @Sendable (Int64) -> Void

    /// Creates the file.
    /// - Parameter needsName: Whether the file has a temporary name from the beginning, as on a file system that does
    ///   not support files without a name.
    /// - Parameter progress: Called with the number of bytes written so far.
    /// - Throws: `ServerError` if a file with that name already exists, or if the file cannot be made.
    public init(
        _ path: String, needsName: Bool = false, progress: @escaping @Sendable (Int64) -> Void = { _ in }
    ) throws(ServerError) {
        self.path = path
        self.progress = progress
        guard access(path, F_OK) != 0 else { throw ServerError("There is a file '\(path)' already.") }
        if !needsName, let nameless = Self.openNameless(in: Self.directory(of: path)) {
            (descriptor, isNamed, temporary) = (nameless, false, Self.link(to: nameless))
            return
        }
        isNamed = true
        temporary = "\(path).\(getpid())"
        descriptor = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw Self.failure("write", path) }
        // The lock distinguishes a file that is being written from a file that a killed process has left
        // (`BackupName.removeAbandoned`).
        flock(descriptor, LOCK_EX | LOCK_NB)
    }

    deinit {
        guard descriptor >= 0 else { return }
        close(descriptor)
        if isNamed, !state.withLock({ $0.isComplete }) { unlink(temporary) }
    }

    /// The value of `O_TMPFILE`, a macro that Swift does not import.
    private static let nameless: Int32 = 0o20_000_000 | O_DIRECTORY

    /// Creates a file without a name, and opens it.
    /// - Returns: The descriptor of the file; nil if the file system does not support such files, or if the file could
    ///   not be given its name later.
    private static func openNameless(in directory: String) -> Int32? {
        let descriptor = open(directory, nameless | O_WRONLY | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { return nil }
        guard access(link(to: descriptor), F_OK) == 0 else {
            close(descriptor)
            return nil
        }
        return descriptor
    }

    private static func link(to descriptor: Int32) -> String { "/proc/self/fd/\(descriptor)" }

    private static func directory(of path: String) -> String {
        path.lastIndex(of: "/").map { String(path[...$0]) } ?? "."
    }

    /// Writes bytes at the end of the file.
    /// - Throws: `ServerError` if the bytes cannot be written.
    public func write(_ bytes: [UInt8]) throws {
        guard take(bytes) else {
            try check()
            return
        }
    }

    /// Writes bytes at the end of the file.
    /// - Returns: Whether the bytes were written. If they were not, `check` throws the reason.
    public func take(_ bytes: [UInt8]) -> Bool {
        var sent = 0
        while sent < bytes.count {
            let count = bytes.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress! + sent, $0.count - sent) }
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else {
                let failure = Self.failure("write", path)
                state.withLock { $0.failure = failure }
                return false
            }
            sent += count
        }
        progress(written.add(Int64(bytes.count), ordering: .relaxed).newValue)
        return true
    }

    /// Checks that no earlier write has failed.
    /// - Throws: `ServerError` with the reason of the failure.
    public func check() throws(ServerError) {
        if let failure = state.withLock({ $0.failure }) { throw failure }
    }

    /// Gives the file its name.
    ///
    /// The file is on disk under this name when this returns.
    /// - Throws: `ServerError` if the file cannot be completed, or if a file with this name exists by now.
    public func complete() throws(ServerError) {
        try check()
        guard fsync(descriptor) == 0, giveName() == 0 else { throw Self.failure("write", path) }
        state.withLock { $0.isComplete = true }
        let directory = open(Self.directory(of: path), O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard directory >= 0 else { throw Self.failure("synchronize", path) }
        defer { close(directory) }
        guard fsync(directory) == 0 else { throw Self.failure("synchronize", path) }
    }

    private func giveName() -> Int32 {
        isNamed ? rename(temporary, path) : linkat(AT_FDCWD, temporary, AT_FDCWD, path, AT_SYMLINK_FOLLOW)
    }

    private static func failure(_ verb: String, _ path: String) -> ServerError {
        ServerError("Cannot \(verb) \(path): \(String(cString: strerror(errno))).")
    }
}
