import Glibc

/// Reads figures about this process from the system (proc(5)).
struct ProcessFigures {
    /// The processor time that the process has used, in seconds.
    let processorTime: Double
    /// The resident memory of the process, in bytes.
    let residentMemory: Double
    let openFiles: Int
    let openFilesLimit: Double
    /// The start time of the process, in seconds since 1970.
    let startTime: Double

    init() {
        processorTime = Self.seconds(of: CLOCK_PROCESS_CPUTIME_ID)
        let pages = Self.words(of: "/proc/self/statm").dropFirst().first.flatMap { Double($0) } ?? 0
        residentMemory = pages * Double(sysconf(Int32(_SC_PAGESIZE)))
        openFiles = Self.countOpenFiles()
        var limit = rlimit()
        getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        openFilesLimit = Double(limit.rlim_cur)
        startTime = Self.processStart
    }

    /// The start time of the process.
    ///
    /// It is computed once, so that it does not change when the clock is adjusted.
    private static let processStart: Double = {
        // The process name, in parentheses, may contain spaces. After the name come 19 fields, then the start time in
        // ticks since boot.
        let line = read("/proc/self/stat")
        let afterName = line.split(separator: ")", omittingEmptySubsequences: false).last ?? ""
        let words = afterName.split(separator: " ")
        let ticks = words.count > 19 ? Double(words[19]) ?? 0 : 0
        let bootTime = seconds(of: CLOCK_REALTIME) - seconds(of: CLOCK_BOOTTIME)
        return (bootTime + ticks / Double(sysconf(Int32(_SC_CLK_TCK)))).rounded(.down)
    }()

    private static func seconds(of clock: clockid_t) -> Double {
        var time = timespec()
        clock_gettime(clock, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    /// Counts the open files.
    ///
    /// The entries `.` and `..` and the descriptor that reads the directory are not counted.
    private static func countOpenFiles() -> Int {
        guard let directory = opendir("/proc/self/fd") else { return 0 }
        defer { closedir(directory) }
        var count = 0
        while readdir(directory) != nil { count += 1 }
        return max(0, count - 3)
    }

    private static func words(of path: String) -> [Substring] { read(path).split(separator: " ") }

    private static func read(_ path: String) -> String {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return "" }
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: 4096)
        let count = Glibc.read(file, &bytes, bytes.count)
        return String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
    }
}
