import Glibc
import MartletServer

/// A Firefox process that this command has started.
struct Firefox {
    private static let names = ["firefox-esr", "firefox"]
    /// The interval between checks whether the browser has ended.
    private static let pause: Duration = .milliseconds(200)
    /// The time that the browser has to end after SIGTERM before it is killed, in tenths of a second.
    private static let patience = 100

    private let process: pid_t

    /// Finds the program of Firefox.
    /// - Parameter file: The path of Firefox; if nil, Firefox is searched for in `PATH`.
    static func find(_ file: String?) throws -> String {
        if let file { return file }
        let folders = getenv("PATH").map { String(cString: $0) } ?? ""
        for folder in folders.split(separator: ":") {
            for name in names where access("\(folder)/\(name)", X_OK) == 0 { return "\(folder)/\(name)" }
        }
        throw ServerError("There is no Firefox in PATH: install one (Debian: firefox-esr), or name it with --program.")
    }

    /// Starts Firefox, which shows the page.
    init(_ program: String, profile: FirefoxProfile, page: String, isHeadless: Bool) throws {
        var words = [program, "--no-remote", "--profile", profile.directory]
        if isHeadless { words.append("--headless") }
        words.append(page)
        process = try Self.spawn(words)
    }

    /// Waits until the browser has ended. If the task is cancelled, ends the browser.
    func run() async {
        while !Task.isCancelled {
            if hasEnded { return }
            try? await Task.sleep(for: Self.pause)
        }
        kill(process, SIGTERM)
        for _ in 0..<Self.patience {
            if hasEnded { return }
            // `Task.sleep` would return at once in a cancelled task.
            usleep(100_000)
        }
        kill(process, SIGKILL)
        waitpid(process, nil, 0)
    }

    private var hasEnded: Bool { waitpid(process, nil, WNOHANG) != 0 }

    /// Starts the browser. Signals are unblocked in the new process, because the browser must not inherit the signals
    /// that this program blocks. The browser's own messages are discarded.
    private static func spawn(_ words: [String]) throws -> pid_t {
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var none = sigset_t()
        sigemptyset(&none)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
        var files = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&files)
        defer { posix_spawn_file_actions_destroy(&files) }
        for file in [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO] {
            posix_spawn_file_actions_addopen(&files, file, "/dev/null", file == STDIN_FILENO ? O_RDONLY : O_WRONLY, 0)
        }
        let arguments = words.map { strdup($0) }
        defer { for argument in arguments { free(argument) } }
        var process: pid_t = 0
        let result = posix_spawn(&process, words[0], &files, &attributes, arguments + [nil], environ)
        guard result == 0 else {
            throw ServerError("Cannot start \(words[0]): \(String(cString: strerror(result))).")
        }
        return process
    }
}
