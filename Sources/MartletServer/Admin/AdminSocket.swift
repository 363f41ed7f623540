import Glibc
import MartletNetwork

/// The Unix socket on which a running server is administered: `admin.sock` in its data directory, or the path given by
/// `--admin-socket`.
public struct AdminSocket: Sendable {
    /// The path to listen on or connect to. If the socket's own path is too long, this is a path in `/proc/self/fd`.
    public let path: String
    let access: UnixSocketAccess

    /// Chooses the socket.
    /// - Parameter given: The path given by `--admin-socket`, to which the server's group may also connect. nil selects
    ///   the socket in the data directory, to which only the owner and root may connect.
    /// - Throws: `ServerError` if the path is too long or the data directory cannot be opened.
    public init(in dataDirectory: String, given: String?) throws(ServerError) {
        // The path of a socket is limited to 107 bytes.
        if let given {
            guard given.utf8.count <= 107 else { throw ServerError("--admin-socket is longer than 107 bytes.") }
            (path, access) = (given, .group)
            return
        }
        access = .owner
        let path = "\(dataDirectory)/admin.sock"
        // If the path is too long for a socket, the directory's path in `/proc` is used instead. It is always short
        // enough.
        guard path.utf8.count > 100 else {
            self.path = path
            return
        }
        let directory = open(dataDirectory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard directory >= 0 else {
            throw ServerError("Cannot open \(dataDirectory): \(String(cString: strerror(errno))).")
        }
        // The directory is left open on purpose, because its path in `/proc` is valid only as long as the directory is
        // open.
        self.path = "/proc/self/fd/\(directory)/admin.sock"
    }
}
