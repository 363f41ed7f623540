import Glibc

/// Where a server keeps everything that is its own.
///
/// ```
/// martlet.db      the database           progress/   which devices a notification has reached
/// secret.key      seals what is secret   tls/        the private authority of --tls-self-signed
/// admin.sock      administration of the running server
/// ```
struct DataDirectory: Sendable {
    let path: String

    /// Makes the directory where it is missing.
    init(_ path: String) throws(ServerError) {
        self.path = path.count > 1 && path.last == "/" ? String(path.dropLast()) : path
        try SecretFile.makeDirectory(self.path)
    }

    func file(_ name: String) -> String { "\(path)/\(name)" }

    /// Where the running server is administered.
    static func adminSocket(in path: String) throws(ServerError) -> String {
        let socket = "\(path)/admin.sock"
        // A socket's path has at most 107 bytes; the kernel's own name of the directory is always short enough.
        guard socket.utf8.count > 100 else { return socket }
        let directory = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard directory >= 0 else {
            throw ServerError("Cannot open \(path): \(String(cString: strerror(errno))).")
        }
        // Kept open on purpose: the name holds as long as this process does.
        return "/proc/self/fd/\(directory)/admin.sock"
    }
}
