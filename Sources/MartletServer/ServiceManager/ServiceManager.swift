import Glibc

/// Notifies the service manager that started this process (sd_notify(3)).
///
/// This is implemented without libsystemd, because the protocol is only one datagram to a socket.
public struct ServiceManager: Sendable {
    /// The maximum time between two notifications that the service manager's watchdog accepts; nil without a watchdog.
    let watchdog: Duration?
    private let send: @Sendable (ServiceNotification) -> Void

    /// The value for a process that no service manager has started.
    ///
    /// Nothing is sent.
    public static let none = ServiceManager(watchdog: nil) { _ in }

    init(watchdog: Duration?, send: @escaping @Sendable (ServiceNotification) -> Void) {
        self.watchdog = watchdog
        self.send = send
    }

    /// Reads the environment variables `NOTIFY_SOCKET`, `WATCHDOG_USEC` and `WATCHDOG_PID`.
    public init(environment: (String) -> String?) {
        self.init(environment: environment, process: getpid())
    }

    init(environment: (String) -> String?, process: Int32) {
        guard let path = environment("NOTIFY_SOCKET"), let socket = NotifySocket(path) else {
            self = .none
            return
        }
        let isMeant = environment("WATCHDOG_PID").map { $0 == String(process) } ?? true
        let interval = environment("WATCHDOG_USEC").flatMap(Int64.init).flatMap { $0 > 0 ? $0 : nil }
        self.init(watchdog: isMeant ? interval.map { .microseconds($0) } : nil) { socket.send($0.text) }
    }

    func tell(_ notification: ServiceNotification) { send(notification) }

    /// Asks the service manager for more time every few seconds while `work` runs.
    ///
    /// This is for the start of the server, which may include a long upgrade of the database.
    func extending<Value: Sendable>(
        _ work: @Sendable () async throws(ServerError) -> Value
    ) async throws(ServerError) -> Value {
        let patience = Task {
            while !Task.isCancelled {
                tell(.extend(by: Self.moreTime))
                try? await Task.sleep(for: Self.moreTime / 3)
            }
        }
        defer { patience.cancel() }
        return try await work()
    }

    private static let moreTime: Duration = .seconds(30)

    /// The time since the system was started, by the clock that `MONOTONIC_USEC` uses.
    static var monotonicTime: Duration {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }
}
