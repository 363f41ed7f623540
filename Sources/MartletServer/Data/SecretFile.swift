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

    /// Writes a file that is on disk, under its final name, when this returns.
    static func write(_ bytes: [UInt8], to path: String, mode: mode_t = 0o600) throws(ServerError) {
        let temporary = try writeTemporary(bytes, beside: path, mode: mode)
        guard rename(temporary, path) == 0 else { throw failure("write", path) }
        try sync(directoryOf: path)
    }

    /// Writes a new file that is on disk when this returns. Where another process was faster, its file stays.
    static func create(_ bytes: [UInt8], at path: String) throws(ServerError) {
        let temporary = try writeTemporary(bytes, beside: path, mode: 0o600)
        defer { unlink(temporary) }
        if link(temporary, path) != 0, errno != EEXIST { throw failure("create", path) }
        try sync(directoryOf: path)
    }

    /// Makes a directory that only its owner may enter, with those above it, where they are missing. Their entries are on
    /// disk when this returns.
    static func makeDirectory(_ path: String) throws(ServerError) {
        if mkdir(path, 0o700) == 0 { return try sync(directoryOf: path) }
        if errno == EEXIST { return }
        guard errno == ENOENT, let parent = directory(of: path) else { throw failure("create", path) }
        try makeDirectory(parent)
        guard mkdir(path, 0o700) == 0 || errno == EEXIST else { throw failure("create", path) }
        try sync(directoryOf: path)
    }

    private static func writeTemporary(
        _ bytes: [UInt8], beside path: String, mode: mode_t
    ) throws(ServerError) -> String {
        let temporary = "\(path).\(getpid())"
        let file = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode)
        guard file >= 0 else { throw failure("write", path) }
        defer { close(file) }
        let written = bytes.withUnsafeBytes { Glibc.write(file, $0.baseAddress, $0.count) }
        guard written == bytes.count, fsync(file) == 0 else { throw failure("write", path) }
        return temporary
    }

    /// What stands before the last slash; nil where that is nothing.
    private static func directory(of path: String) -> String? {
        guard let slash = path.lastIndex(of: "/"), slash > path.startIndex else { return nil }
        return String(path[..<slash])
    }

    private static func sync(directoryOf path: String) throws(ServerError) {
        let directory = directory(of: path) ?? (path.first == "/" ? "/" : ".")
        let handle = open(directory, O_RDONLY | O_CLOEXEC)
        guard handle >= 0 else { throw failure("open", directory) }
        defer { close(handle) }
        guard fsync(handle) == 0 else { throw failure("sync", directory) }
    }

    private static func failure(_ verb: String, _ path: String) -> ServerError {
        ServerError("Cannot \(verb) \(path): \(String(cString: strerror(errno))).")
    }
}
