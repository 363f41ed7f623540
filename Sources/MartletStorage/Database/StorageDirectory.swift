import Glibc
import MartletCore

/// The lock and the permissions of the data directory: it is private to its owner, and one process at a time uses it.
final class StorageDirectory: Sendable {
    let path: String
    /// The descriptor of the lock file while the lock is held.
    private let lock: Locked<Int32?>

    /// Makes the directory if it is missing, makes it private to its owner (mode 0700) and locks it.
    /// - Throws: `StorageError`; `.locked` if another process holds the lock.
    init(_ path: String) throws(StorageError) {
        self.path = path
        try Self.prepare(path)
        lock = Locked(try Self.takeLock(in: path))
    }

    /// Makes and locks a directory as `init(_:)` does, for a move of its data.
    /// - Throws: `StorageError`; `.locked` if another process holds the lock. That process cannot do the work of a move, so
    ///   the sentence is another one.
    static func forMove(_ path: String) throws(StorageError) -> StorageDirectory {
        do throws(StorageError) {
            return try StorageDirectory(path)
        } catch  where error.kind == .locked {
            throw StorageError(
                .locked,
                "Another process has the data directory '\(path)', and no server answers on its admin socket. Wait for the "
                    + "server that is starting, or for the command that uses the directory, and try again; name the socket with "
                    + "--admin-socket if the server has another one. Or stop the server.")
        }
    }

    deinit {
        unlock()
    }

    /// Makes the directory if it is missing, and makes it private to its owner (mode 0700).
    static func prepare(_ path: String) throws(StorageError) {
        try make(path)
        try keepPrivate(path)
    }

    /// Releases the lock, so that another process can use the directory.
    func unlock() {
        lock.withLock { descriptor in
            guard let open = descriptor else { return }
            // Closing the descriptor alone does not release the lock, because a child process that is being spawned
            // holds a copy until it executes its program.
            flock(open, LOCK_UN)
            close(open)
            descriptor = nil
        }
    }

    func file(_ name: String) -> String { "\(path)/\(name)" }

    /// Makes a file that only the owner may read, if the file is missing. When the call returns, the file's directory
    /// entry is on disk.
    func makePrivateFile(_ name: String) throws(StorageError) {
        let descriptor = open(file(name), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw StorageError(failed: "open", file(name)) }
        close(descriptor)
        try Self.synchronize(path)
    }

    /// Makes a directory that only the owner may read, if the directory is missing.
    /// - Throws: `StorageError`, including if the existing entry is a link or belongs to another user.
    func makePrivateDirectory(_ name: String) throws(StorageError) {
        try Self.make(file(name))
        try Self.checkOwn(file(name))
    }

    /// Checks that a directory inside the data directory is not a link and belongs to this user. Through a link, the
    /// server would write and delete files at the target of the link. A directory of another user could be read and
    /// changed by that user.
    static func checkOwn(_ path: String) throws(StorageError) {
        var status = stat()
        guard lstat(path, &status) == 0 else { throw StorageError(failed: "examine", path) }
        switch status.st_mode & S_IFMT {
        case S_IFDIR: break
        case S_IFLNK:
            throw StorageError(.unavailable, "'\(path)' is a symbolic link; put the directory itself there.")
        default: throw StorageError(.unavailable, "'\(path)' is no directory; move it away.")
        }
        // Root is not checked: it may keep the data in a directory of another user, as in containers with mounted
        // directories.
        guard geteuid() == 0 || status.st_uid == geteuid() else {
            throw StorageError(.unavailable, "'\(path)' belongs to another user; make it your own (chown).")
        }
    }

    private static func make(_ path: String) throws(StorageError) {
        let parent = path.split(separator: "/", omittingEmptySubsequences: true).dropLast().joined(separator: "/")
        let parentPath = path.hasPrefix("/") ? "/\(parent)" : parent.isEmpty ? "." : parent
        if access(parentPath, F_OK) != 0 { try make(parentPath) }
        if mkdir(path, 0o700) == 0 {
            try synchronize(parentPath)
        } else if errno != EEXIST {
            throw StorageError(failed: "make", path)
        }
    }

    /// Makes a directory private to its owner (mode 0700). Throws an error and leaves the directory unchanged if it
    /// belongs to another user. Does the same if other users have access to it and it is neither empty nor contains the
    /// lock file of a data directory.
    private static func keepPrivate(_ path: String) throws(StorageError) {
        var status = stat()
        guard stat(path, &status) == 0 else { throw StorageError(failed: "examine", path) }
        guard status.st_mode & S_IFMT == S_IFDIR else {
            throw StorageError(.unavailable, "'\(path)' is no directory; choose another place for the data.")
        }
        // Root is not checked: it may keep the data in a directory of another user, as in containers with mounted
        // directories.
        guard geteuid() == 0 || status.st_uid == geteuid() else {
            throw StorageError(
                .unavailable,
                "'\(path)' belongs to another user; choose a directory of your own, or run this as its owner.")
        }
        guard status.st_mode & 0o077 != 0 else { return }
        let entries = try entries(of: path)
        guard entries.isEmpty || entries.contains(lockName) else {
            throw StorageError(
                .unavailable,
                "'\(path)' is open to other users and holds other things; choose an empty or a new directory, or make "
                    + "it private (chmod 700) if it is meant.")
        }
        guard chmod(path, 0o700) == 0 else { throw StorageError(failed: "make private", path) }
    }

    private static let lockName = "lock"

    private static func takeLock(in path: String) throws(StorageError) -> Int32 {
        let name = "\(path)/\(lockName)"
        let descriptor = open(name, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw StorageError(failed: "open", name) }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            let error = errno == EWOULDBLOCK ? isTaken(path) : StorageError(failed: "lock", name)
            close(descriptor)
            throw error
        }
        return descriptor
    }

    /// Throws an error (`.locked`) if a process has the lock of a directory. Writes nothing, but shares the lock until it
    /// returns.
    static func checkLock(of path: String) throws(StorageError) {
        let descriptor = open("\(path)/\(lockName)", O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        guard flock(descriptor, LOCK_SH | LOCK_NB) == 0 || errno != EWOULDBLOCK else { throw isTaken(path) }
    }

    private static func isTaken(_ path: String) -> StorageError {
        StorageError(
            .locked,
            "Another process has the data directory '\(path)'. Stop it, or let it do the work through its admin socket; "
                + "if the socket is missing, restart the server, which makes it again."
        )
    }

    static func exists(_ path: String) -> Bool { access(path, F_OK) == 0 }

    static func entries(of path: String) throws(StorageError) -> [String] {
        guard let directory = opendir(path) else { throw StorageError(failed: "list", path) }
        defer { closedir(directory) }
        var names: [String] = []
        while let entry = readdir(directory) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                pointer.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if name != "." && name != ".." { names.append(name) }
        }
        return names
    }

    /// Flushes the entries of a directory to disk.
    static func synchronize(_ path: String) throws(StorageError) {
        let descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw StorageError(failed: "open", path) }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 else { throw StorageError(failed: "synchronize", path) }
    }
}

extension StorageError {
    /// Creates the error for a failed system call, from `errno`.
    init(failed action: String, _ path: String) {
        let code = errno
        let kind: Kind = code == ENOSPC || code == EDQUOT ? .full : .unavailable
        self.init(kind, "Could not \(action) '\(path)': \(String(cString: strerror(code))).")
    }
}
