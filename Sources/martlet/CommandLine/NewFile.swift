import Glibc
import MartletHTTP
import MartletServer
import Synchronization

/// A file that only its owner may read, and that has its name once it is complete and on disk; until then it is called
/// otherwise, and is removed when it is let go of.
final class NewFile: HTTPBodyWriter {
    let path: String
    /// Where it is until it is complete.
    let temporary: String
    private let descriptor: Int32
    private let state = Mutex<(failure: ServerError?, isComplete: Bool)>((nil, false))
    private let written = Atomic<Int64>(0)
    /// Is told how many bytes were written.
    private let progress: @Sendable (Int64) -> Void

    /// - Throws: `ServerError` where there is a file of that name already, or none can be made.
    init(_ path: String, progress: @escaping @Sendable (Int64) -> Void = { _ in }) throws(ServerError) {
        self.path = path
        self.progress = progress
        temporary = "\(path).\(getpid())"
        guard access(path, F_OK) != 0 else { throw ServerError("There is a file '\(path)' already.") }
        descriptor = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw Self.failure("write", path) }
    }

    deinit {
        guard descriptor >= 0 else { return }
        close(descriptor)
        if !state.withLock({ $0.isComplete }) { unlink(temporary) }
    }

    func write(_ bytes: [UInt8]) throws {
        guard take(bytes) else {
            try check()
            return
        }
    }

    /// - Returns: Whether they could be written; where not, `check` tells why.
    func take(_ bytes: [UInt8]) -> Bool {
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

    func check() throws(ServerError) {
        if let failure = state.withLock({ $0.failure }) { throw failure }
    }

    /// Gives the file its name.
    func complete() throws(ServerError) {
        try check()
        guard fsync(descriptor) == 0, rename(temporary, path) == 0 else { throw Self.failure("write", path) }
        state.withLock { $0.isComplete = true }
        let parent = path.lastIndex(of: "/").map { path[...$0] } ?? "."
        let directory = open(String(parent), O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard directory >= 0 else { throw Self.failure("synchronize", path) }
        defer { close(directory) }
        guard fsync(directory) == 0 else { throw Self.failure("synchronize", path) }
    }

    private static func failure(_ verb: String, _ path: String) -> ServerError {
        ServerError("Cannot \(verb) \(path): \(String(cString: strerror(errno))).")
    }
}
