import Glibc

/// Reads and writes small files that only their owner may read.
enum SecretFile {
    /// Returns the contents of a file; nil if the file does not exist.
    /// - Parameter limit: The maximum size of the file, in bytes.
    /// - Throws: `ServerError` if the file is longer than `limit`, cannot be read, or is not a regular file. A pipe, for
    ///   example, is refused because opening or reading it would wait for another process.
    static func read(_ path: String, limit: Int = 1 << 20) throws(ServerError) -> [UInt8]? {
        let file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard file >= 0 else {
            if errno == ENOENT { return nil }
            throw failure("read", path)
        }
        defer { close(file) }
        var status = stat()
        guard fstat(file, &status) == 0 else { throw failure("examine", path) }
        guard status.st_mode & S_IFMT == S_IFREG else { throw ServerError("\(path) is not a regular file.") }
        return try contents(of: file, path, limit: limit)
    }

    /// Returns the only line of a file, without the line end; nil if the file does not exist. The caller must check
    /// that all characters are allowed, because a second line is not refused here.
    /// - Parameter limit: The maximum length of the line, in bytes.
    /// - Throws: As `read(_:limit:)`.
    static func line(_ path: String, limit: Int) throws(ServerError) -> [UInt8]? {
        try read(path, limit: limit + 2).map { bytes in
            Array(bytes.reversed().drop { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") }.reversed())
        }
    }

    /// Returns the contents of a file that this program has created in an earlier run; nil if the file does not exist.
    /// - Throws: `ServerError` if another user may have written the file or can read it: it is not a regular file,
    ///   belongs to another user, or its mode gives access to others.
    static func readOwn(_ path: String) throws(ServerError) -> [UInt8]? {
        let file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard file >= 0 else {
            if errno == ENOENT { return nil }
            if errno == ELOOP { throw ServerError("\(path) is a symbolic link; put the file itself there.") }
            throw failure("read", path)
        }
        defer { close(file) }
        try checkOwn(file, path)
        return try contents(of: file, path, limit: 1 << 20)
    }

    private static func checkOwn(_ file: Int32, _ path: String) throws(ServerError) {
        var status = stat()
        var parent = stat()
        guard fstat(file, &status) == 0, stat(directory(of: path) ?? ".", &parent) == 0 else {
            throw failure("examine", path)
        }
        guard status.st_mode & S_IFMT == S_IFREG else { throw ServerError("\(path) is not a regular file.") }
        // If root serves the data directory of another user, the files in it belong to that user.
        guard status.st_uid == geteuid() || (geteuid() == 0 && status.st_uid == parent.st_uid) else {
            throw ServerError(
                "\(path) belongs to another user, who knows what is in it. If it is meant, make it your own (chown).")
        }
        guard status.st_mode & 0o077 == 0 else {
            throw ServerError("\(path) is open to other users; if none has read it, make it private (chmod 600).")
        }
    }

    private static func contents(of file: Int32, _ path: String, limit: Int) throws(ServerError) -> [UInt8] {
        // The buffer is one byte longer than the limit, so that a file that is too long is recognized.
        var bytes = [UInt8](repeating: 0, count: limit + 1)
        var count = 0
        while count < bytes.count {
            let got = bytes.withUnsafeMutableBytes { Glibc.read(file, $0.baseAddress! + count, $0.count - count) }
            if got < 0 { throw failure("read", path) }
            if got == 0 { break }
            count += got
        }
        guard count <= limit else {
            throw ServerError("\(path) has more than \(limit) bytes: give the file that is meant, or a shorter one.")
        }
        return Array(bytes.prefix(count))
    }

    /// Writes a file atomically. The file and its directory entry are on disk when this returns.
    static func write(_ bytes: [UInt8], to path: String, mode: mode_t = 0o600) throws(ServerError) {
        let temporary = try writeTemporary(bytes, beside: path, mode: mode)
        guard rename(temporary, path) == 0 else { throw failure("write", path) }
        try sync(directoryOf: path)
    }

    /// Creates a file, unless it exists already. An existing file is kept, and is not an error. A new file is on disk
    /// when this returns.
    static func create(_ bytes: [UInt8], at path: String) throws(ServerError) {
        let temporary = try writeTemporary(bytes, beside: path, mode: 0o600)
        defer { unlink(temporary) }
        if link(temporary, path) != 0, errno != EEXIST { throw failure("create", path) }
        try sync(directoryOf: path)
    }

    /// Makes a directory that only its owner may enter, and any missing parent directories. Their directory entries are
    /// on disk when this returns.
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
        // An earlier process with the same id may have left a file with this name. The file is removed and not
        // overwritten, because it could be a link.
        guard unlink(temporary) == 0 || errno == ENOENT else { throw failure("write", path) }
        let file = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode)
        guard file >= 0 else { throw failure("write", path) }
        defer { close(file) }
        let written = bytes.withUnsafeBytes { Glibc.write(file, $0.baseAddress, $0.count) }
        guard written == bytes.count, fsync(file) == 0 else {
            let error = failure("write", path)
            unlink(temporary)
            throw error
        }
        return temporary
    }

    /// Returns the path before the last slash; nil if there is no slash, or only one at the beginning.
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

    /// Returns the error of a system call that has just failed on a file.
    static func failure(_ verb: String, _ path: String) -> ServerError {
        ServerError("Cannot \(verb) \(path): \(String(cString: strerror(errno))).")
    }
}
