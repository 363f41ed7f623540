#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// A small file that its owner alone may read and write, replaced as a whole: after a crash there is the old or the new.
struct KeyFile: Sendable {
    private static let sizeLimit = 1 << 20

    let path: String

    /// - Returns: nil where there is no such file.
    /// - Throws: `StorageProblem` also where others may read or write the file.
    func read() throws(StorageProblem) -> [UInt8]? {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else {
            guard errno == ENOENT else { throw problem("read") }
            return nil
        }
        defer { close(file) }
        var status = stat()
        guard fstat(file, &status) == 0 else { throw problem("read") }
        guard status.st_mode & 0o077 == 0 else {
            throw StorageProblem("\(path) may be read or written by others; take that from them with chmod 600.")
        }
        guard status.st_size <= Self.sizeLimit else { throw StorageProblem("\(path) is too large.") }
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 16_384)
        while true {
            let count = piece.withUnsafeMutableBytes { systemRead(file, $0.baseAddress, $0.count) }
            guard count >= 0 else { throw problem("read") }
            guard count > 0, bytes.count <= Self.sizeLimit else { return bytes }
            bytes += piece.prefix(count)
        }
    }

    /// Makes the file's folder where there is none, but not the folder's own.
    func write(_ bytes: [UInt8]) throws(StorageProblem) {
        makeFolder()
        let draft = "\(path).\(getpid()).\(UInt32.random(in: 0...UInt32.max))"
        let file = open(draft, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw problem("write") }
        let isWritten = Self.writeAll(bytes, to: file) && fsync(file) == 0
        guard close(file) == 0, isWritten, rename(draft, path) == 0 else {
            let problem = problem("write")
            unlink(draft)
            throw problem
        }
    }

    /// Does nothing where there is no such file.
    func remove() throws(StorageProblem) {
        guard unlink(path) == 0 || errno == ENOENT else { throw problem("remove") }
    }

    /// Does some work while no other process does its own on this file.
    func locked<Value>(_ work: () throws(StorageProblem) -> Value) throws(StorageProblem) -> Value {
        makeFolder()
        let lock = open("\(path).lock", O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
        guard lock >= 0 else { throw problem("lock") }
        // Closing gives the lock back.
        defer { close(lock) }
        guard flock(lock, LOCK_EX) == 0 else { throw problem("lock") }
        return try work()
    }

    private func makeFolder() {
        guard let slash = path.lastIndex(of: "/"), slash != path.startIndex else { return }
        mkdir(String(path[..<slash]), 0o700)
    }

    private static func writeAll(_ bytes: [UInt8], to file: Int32) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { systemWrite(file, $0.baseAddress, $0.count) }
            guard count > 0 else { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }

    private func problem(_ verb: String) -> StorageProblem {
        StorageProblem("Cannot \(verb) \(path): \(String(cString: strerror(errno))).")
    }
}

// The type's own read and write hide the system's.
private func systemRead(_ file: Int32, _ place: UnsafeMutableRawPointer?, _ count: Int) -> Int {
    read(file, place, count)
}

private func systemWrite(_ file: Int32, _ place: UnsafeRawPointer?, _ count: Int) -> Int {
    write(file, place, count)
}
