import Glibc
import Synchronization

/// Restarts this process: runs the same program again, with the same arguments and the same process id.
public enum ProcessRestart {
    private static let executor = Mutex<(@Sendable () -> Void)?>(nil)

    /// Leaves restarts to the thread that takes the signals of the process. It takes no signal while it restarts the
    /// process, so a signal that comes meanwhile waits for the new program.
    /// - Parameter executor: Called by `request`. Makes that thread call `execute`.
    public static func leave(to executor: @escaping @Sendable () -> Void) {
        self.executor.withLock { $0 = executor }
    }

    /// Requests a restart. May return before the process is restarted.
    static func request() {
        guard let executor = executor.withLock(\.self) else { return execute() }
        executor()
    }

    /// The environment variable that is set in a process that has restarted itself.
    private static let variable = "_MARTLET_STARTED_ANEW"

    /// Whether this process has restarted itself, as opposed to a start by an operator or a service manager.
    static var hasHappened: Bool { getenv(variable) != nil }

    /// Replaces the running program. The memory of the process is lost, and all open files and sockets are closed,
    /// except standard input, output and error. If the program cannot be started, the process ends.
    public static func execute() {
        closeFilesOnStart()
        setenv(variable, "1", 1)
        // The program is started by its path, because an upgrade may have put a newer program there. If the program's
        // file was removed, only the link in `/proc` still leads to the program.
        let link = "/proc/self/exe"
        let path = path(of: link) ?? link
        execv(path.hasSuffix(" (deleted)") ? link : path, CommandLine.unsafeArgv)
        _exit(EXIT_FAILURE)
    }

    private static func path(of link: String) -> String? {
        var bytes = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = readlink(link, &bytes, bytes.count)
        guard count > 0, count < bytes.count else { return nil }
        return String(decoding: bytes[..<count].map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    /// Makes `execv` close all open files and sockets, except standard input, output and error. This includes files
    /// that libraries have opened, and files with a lock.
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
