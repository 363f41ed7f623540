import Glibc
import MartletNetwork

/// The Unix socket on which a running server is administered: `admin.sock` in its data directory, or where
/// `--admin-socket` says.
public struct AdminSocket: Sendable {
    /// The path to bind or connect to.
    public let path: String
    let access: UnixSocketAccess

    /// - Parameter given: The path that `--admin-socket` names: the group of the server may connect to it. nil for the
    ///   socket in the data directory, which only the owner and root may connect to.
    /// - Throws: `ServerError` if the path is too long or the data directory cannot be opened.
    public init(in dataDirectory: String, given: String?) throws(ServerError) {
        // A socket's path has at most 107 bytes.
        if let given {
            guard given.utf8.count <= 107 else { throw ServerError("--admin-socket is longer than 107 bytes.") }
            (path, access) = (given, .group)
            return
        }
        access = .owner
        let path = "\(dataDirectory)/admin.sock"
        // The kernel's own name of the directory is always short enough.
        guard path.utf8.count > 100 else {
            self.path = path
            return
        }
        let directory = open(dataDirectory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard directory >= 0 else {
            throw ServerError("Cannot open \(dataDirectory): \(String(cString: strerror(errno))).")
        }
        // Kept open on purpose: the name is valid while the descriptor is open.
        self.path = "/proc/self/fd/\(directory)/admin.sock"
    }
}
