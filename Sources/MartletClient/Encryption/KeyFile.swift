#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

/// A file of keys or pins: where it cannot be read that is told, because to take it for none would have new keys made or
/// others' believed, and it is not believed where others may write it.
struct KeyFile: Sendable {
    let path: String

    /// - Returns: nil where there is no such file.
    /// - Throws: `StorageProblem` also where others may read or write the file.
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

    /// Does some work while no other process does its own on this file.
    func locked<Value>(_ work: () throws(StorageProblem) -> Value) throws(StorageProblem) -> Value {
        PrivateFile.makeFolder(of: path)
        let lock = open("\(path).lock", O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
        guard lock >= 0 else { throw problem("lock") }
        // Closing gives the lock back.
        defer { close(lock) }
        guard flock(lock, LOCK_EX) == 0 else { throw problem("lock") }
        return try work()
    }

    private func problem(_ verb: String) -> StorageProblem { StorageProblem("Cannot \(verb) \(path).") }
}
