import Glibc

/// The maximum number of files and connections that the process may have open.
enum OpenFiles {
    /// Raises the limit to the maximum that the system allows. The default of 1024 is meant for programs that use
    /// `select`. If the system refuses, the limit does not change.
    static func allowMany() {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return }
        limit.rlim_cur = limit.rlim_max
        _ = setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    }
}
