import Glibc

/// Starts this process anew: the same program with the same arguments, in the same process.
enum ProcessRestart {
    /// The environment variable that is set in a process that was started anew.
    private static let variable = "_MARTLET_STARTED_ANEW"

    /// Whether this process was started anew, and not by an operator or a service manager.
    static var hasHappened: Bool { getenv(variable) != nil }

    /// Replaces the running program. Its memory is lost, and all open files and sockets are closed, except standard
    /// input, output and error. Returns only if the program cannot be started.
    static func execute() {
        closeFilesOnStart()
        setenv(variable, "1", 1)
        // The path is used, because an upgrade may have put another program there. If the program's file was removed,
        // only the link still leads to it.
        let link = "/proc/self/exe"
        let path = path(of: link) ?? link
        execv(path.hasSuffix(" (deleted)") ? link : path, CommandLine.unsafeArgv)
    }

    private static func path(of link: String) -> String? {
        var bytes = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = readlink(link, &bytes, bytes.count)
        guard count > 0, count < bytes.count else { return nil }
        return String(decoding: bytes[..<count].map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    /// Marks all open files and sockets except standard input, output and error to be closed by `execv`, among them
    /// those that libraries have opened and those with a lock.
    private static func closeFilesOnStart() {
        guard let directory = opendir("/proc/self/fd") else { return }
        defer { closedir(directory) }
        while let entry = readdir(directory) {
            let name = withUnsafePointer(to: entry.pointee.d_name) { name in
                name.withMemoryRebound(to: CChar.self, capacity: 1) { String(cString: $0) }
            }
            if let file = Int32(name), file > STDERR_FILENO { _ = fcntl(file, F_SETFD, FD_CLOEXEC) }
        }
    }
}
