import Glibc
import MartletCore

/// An open file. It is closed when its last reference is released. It may be used from any thread.
final class OpenFile: Sendable {
    let path: String
    private let descriptor: Int32
    /// True if the file is also removed when its last reference is released.
    private let isTemporary: Locked<Bool>

    /// Opens a file for reading.
    /// - Throws: `.noBlob` if the file does not exist or is not a regular file.
    init(reading path: String) throws(ContainerError) {
        self.path = path
        descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        isTemporary = Locked(false)
        guard descriptor >= 0 else {
            throw [ENOENT, ENOTDIR, ELOOP].contains(errno) ? .noBlob : .failed("open", path)
        }
        guard try status().st_mode & S_IFMT == S_IFREG else { throw .noBlob }
    }

    /// Opens a file for writing.
    /// - Parameters:
    ///   - offset: The offset in bytes at which writing continues; the bytes after it are cut off. nil makes a new
    ///     file; the call then fails if the file already exists.
    ///   - isTemporary: Whether the file is removed when it is released, unless it is moved first.
    /// - Throws: `ContainerError`, also if the file is shorter than the offset.
    init(writing path: String, at offset: Int64?, isTemporary: Bool) throws(ContainerError) {
        self.path = path
        self.isTemporary = Locked(isTemporary)
        let mode = offset == nil ? O_EXCL : 0
        descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | mode, 0o600)
        guard descriptor >= 0 else { throw .failed("make", path) }
        guard let offset else { return }
        guard try status().st_size >= offset, ftruncate(descriptor, off_t(offset)) == 0,
            lseek(descriptor, off_t(offset), SEEK_SET) == off_t(offset)
        else {
            throw .storage(StorageError(.corrupt, "'\(path)' is shorter than what is known to be in it."))
        }
    }

    deinit {
        if descriptor >= 0 { close(descriptor) }
        if isTemporary.withLock({ $0 }) { unlink(path) }
    }

    func status() throws(ContainerError) -> stat {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw .failed("examine", path) }
        return status
    }

    func read(at offset: Int64, count: Int) throws(ContainerError) -> [UInt8] {
        var failed = false
        let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            while filled < count {
                let got = pread(descriptor, buffer.baseAddress! + filled, count - filled, off_t(offset) + off_t(filled))
                if got < 0, errno == EINTR { continue }
                failed = got < 0
                guard got > 0 else { return }
                filled += got
            }
        }
        if failed { throw .failed("read", path) }
        return bytes
    }

    func write(_ bytes: [UInt8]) throws(ContainerError) {
        var sent = 0
        while sent < bytes.count {
            let count = bytes.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress! + sent, $0.count - sent) }
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw .failed("write", path) }
            sent += count
        }
    }

    /// Appends the whole content of another file.
    func append(_ other: OpenFile) throws(ContainerError) {
        var offset: Int64 = 0
        while true {
            let bytes = try other.read(at: offset, count: 1 << 20)
            if bytes.isEmpty { return }
            try write(bytes)
            offset += Int64(bytes.count)
        }
    }

    func synchronize() throws(ContainerError) {
        guard fsync(descriptor) == 0 else { throw .failed("synchronize", path) }
    }

    /// Renames the file, replacing any file with the new name. The file is then no longer temporary.
    func move(to index: String) throws(ContainerError) {
        guard rename(path, index) == 0 else {
            throw [EISDIR, ENOTDIR, ENOTEMPTY, EEXIST].contains(errno) ? .nameTaken : .failed("move", path)
        }
        isTemporary.withLock { $0 = false }
    }

    func remove() {
        isTemporary.withLock { $0 = false }
        unlink(path)
    }
}

extension ContainerError {
    /// Returns the error for a failed system call, from `errno`.
    static func failed(_ action: String, _ path: String) -> ContainerError {
        .storage(StorageError(failed: action, path))
    }
}
