import Glibc

/// The Unix socket on which a running server is administered: `admin.sock` in its data directory.
public enum AdminSocket {
    /// The path to bind or connect to.
    public static func path(in dataDirectory: String) throws(ServerError) -> String {
        let path = "\(dataDirectory)/admin.sock"
        // A socket's path has at most 107 bytes; the kernel's own name of the directory is always short enough.
        guard path.utf8.count > 100 else { return path }
        let directory = open(dataDirectory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard directory >= 0 else {
            throw ServerError("Cannot open \(dataDirectory): \(String(cString: strerror(errno))).")
        }
        // Kept open on purpose: the name holds as long as this process does.
        return "/proc/self/fd/\(directory)/admin.sock"
    }
}
