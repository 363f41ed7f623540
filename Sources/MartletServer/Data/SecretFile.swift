import Glibc

/// Small files that only their owner may read.
enum SecretFile {
    /// The contents, or nil where there is no such file.
    static func read(_ path: String, limit: Int = 1 << 20) throws(ServerError) -> [UInt8]? {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else {
            if errno == ENOENT { return nil }
            throw failure("read", path)
        }
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: limit)
        var count = 0
        while count < limit {
            let got = bytes.withUnsafeMutableBytes { Glibc.read(file, $0.baseAddress! + count, limit - count) }
            if got < 0 { throw failure("read", path) }
            if got == 0 { break }
            count += got
        }
        return Array(bytes.prefix(count))
    }

    /// Writes a new file with mode 0600 that is on disk, under its final name, when this returns.
    static func write(_ bytes: [UInt8], to path: String, mode: mode_t = 0o600) throws(ServerError) {
        let temporary = path + ".new"
        let file = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode)
        guard file >= 0 else { throw failure("write", path) }
        let written = bytes.withUnsafeBytes { Glibc.write(file, $0.baseAddress, $0.count) }
        let isWritten = written == bytes.count && fsync(file) == 0
        close(file)
        guard isWritten, rename(temporary, path) == 0 else { throw failure("write", path) }
        try sync(directoryOf: path)
    }

    /// Makes a directory that only its owner may enter; one that is there keeps its contents and loses other rights.
    static func makeDirectory(_ path: String) throws(ServerError) {
        var parent = ""
        for part in path.split(separator: "/", omittingEmptySubsequences: false).dropLast() {
            parent += part + "/"
            if parent != "/", mkdir(parent, 0o755) != 0, errno != EEXIST { throw failure("create", parent) }
        }
        if mkdir(path, 0o700) != 0, errno != EEXIST { throw failure("create", path) }
        guard chmod(path, 0o700) == 0 else { throw failure("take away others' rights to", path) }
    }

    private static func sync(directoryOf path: String) throws(ServerError) {
        let parts = path.split(separator: "/", omittingEmptySubsequences: false).dropLast()
        let directory = parts.joined(separator: "/")
        let handle = open(directory.isEmpty ? (path.first == "/" ? "/" : ".") : directory, O_RDONLY | O_CLOEXEC)
        guard handle >= 0 else { throw failure("open", directory) }
        defer { close(handle) }
        guard fsync(handle) == 0 else { throw failure("sync", directory) }
    }

    private static func failure(_ verb: String, _ path: String) -> ServerError {
        ServerError("Cannot \(verb) \(path): \(String(cString: strerror(errno))).")
    }
}
