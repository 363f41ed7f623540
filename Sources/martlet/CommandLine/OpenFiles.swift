import Glibc

/// How many files and connections the process may have open.
enum OpenFiles {
    /// Raises the limit to what the system allows: the usual one of 1024 is for programs that use `select`. Where that
    /// is refused the process keeps what it has.
    static func allowMany() {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return }
        limit.rlim_cur = limit.rlim_max
        _ = setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    }
}
