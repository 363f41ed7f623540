#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

/// A file of keys or pins. An unreadable file is an error. If it counted as empty, the client would create a new key
/// pair, or trust any keys that the server reports. A file that other system users may read or write is an error, too.
struct KeyFile: Sendable {
    let path: String

    /// Reads the file.
    /// - Returns: nil if the file does not exist.
    /// - Throws: `StorageProblem` if the file cannot be read, or if other system users may read or write it.
    func read() throws(StorageProblem) -> [UInt8]? {
        var status = stat()
        guard stat(path, &status) == 0 else {
            guard errno == ENOENT else { throw problem("read") }
            return nil
        }
        guard status.st_mode & 0o077 == 0 else {
            throw StorageProblem("\(path) may be read or written by others; take that from them with chmod 600.")
        }
        guard let bytes = PrivateFile.read(path, limit: FileStore.limit) else { throw problem("read") }
        return bytes
    }

    func write(_ bytes: [UInt8]) throws(StorageProblem) {
        guard PrivateFile.replace(path, with: bytes) else { throw problem("write") }
    }

    func remove() {
        PrivateFile.remove(path)
    }

    /// Runs `work` while holding a lock that excludes other processes which call this function for the same file.
    func locked<Value>(_ work: () throws(StorageProblem) -> Value) throws(StorageProblem) -> Value {
        PrivateFile.makeFolder(of: path)
        let lock = open("\(path).lock", O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
        guard lock >= 0 else { throw problem("lock") }
        // Closing the file releases the lock.
        defer { close(lock) }
        guard flock(lock, LOCK_EX) == 0 else { throw problem("lock") }
        return try work()
    }

    private func problem(_ verb: String) -> StorageProblem { StorageProblem("Cannot \(verb) \(path).") }
}
