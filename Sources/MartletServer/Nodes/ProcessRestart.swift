import Glibc

/// Starts this process anew: the same program with the same arguments, in the same process.
enum ProcessRestart {
    /// By this variable of the environment, a process that was started anew knows that it was.
    private static let variable = "_MARTLET_STARTED_ANEW"

    /// Whether this process was started anew, and not by an operator or a service manager.
    static var hasHappened: Bool { getenv(variable) != nil }

    /// Replaces the running program. Everything that it has in memory is gone, and every file and socket but standard
    /// input, output and error is closed.
    /// - Returns: Only if the program cannot be started.
    static func execute() {
        closeFilesOnStart()
        setenv(variable, "1", 1)
        // If the file of the program was replaced, its name leads to another program, and the link to this one.
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

    /// Makes sure that files which a library may have opened do not stay open, above all those with a lock.
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
