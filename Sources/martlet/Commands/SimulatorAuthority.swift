import Glibc
import MartletServer

/// The file in which a simulator stores the certificate of its authority, so that programs of the same user on this
/// machine can find it by the simulator's port: `martlet-UID/simulator-PORT.pem` in the directory for temporary files.
enum SimulatorAuthority {
    static func publish(_ pem: String, port: UInt16) throws -> String {
        let directory = directory
        if mkdir(directory, 0o700) != 0, errno != EEXIST {
            throw ServerError("Cannot make \(directory): \(String(cString: strerror(errno))).")
        }
        guard isOwn(directory) else {
            throw ServerError("\(directory) belongs to another user; set TMPDIR to a directory of your own.")
        }
        let file = "\(directory)/simulator-\(port).pem"
        try TextFile.write(pem, to: file)
        return file
    }

    /// Returns the certificate of the simulator at a port; nil if no simulator of this user has stored one.
    static func find(port: UInt16) throws -> String? {
        let file = "\(directory)/simulator-\(port).pem"
        guard isOwn(directory), access(file, R_OK) == 0 else { return nil }
        return try TextFile.readText(file)
    }

    private static var directory: String {
        let parent = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
        return "\(parent)/martlet-\(getuid())"
    }

    /// Returns whether the directory belongs to this user and is not accessible to others, so that no other user can
    /// have put a file there.
    private static func isOwn(_ path: String) -> Bool {
        var status = stat()
        return lstat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR && status.st_uid == getuid()
            && status.st_mode & 0o077 == 0
    }
}
