import Glibc
import Synchronization

/// SIGTERM and SIGINT as cancellation, SIGHUP as reload.
///
/// The main thread blocks the signals before there is another thread, which inherits that, and from then on does nothing
/// but take them. A command that can end in good order says how with `runUntilTermination`; otherwise, and at the second
/// signal, the process ends at once.
enum Signals {
    private static let termination = Mutex<(@Sendable (Int32) -> Void)?>(nil)
    private static let hangup = Mutex<(@Sendable () -> Void)?>(nil)

    /// Runs the work in a task that is cancelled by the first signal.
    /// - Parameter announce: Is told the signal's name before that.
    static func runUntilTermination(
        announce: @escaping @Sendable (String) -> Void = { _ in }, _ work: @escaping @Sendable () async -> Void
    ) async {
        // Under the lock, so that whatever the work says first, a signal that answers it finds the task.
        let task = termination.withLock { termination in
            let task = Task { await work() }
            termination = { number in
                announce(number == SIGINT ? "SIGINT" : "SIGTERM")
                task.cancel()
            }
            return task
        }
        await task.value
    }

    /// Does some work that a signal ends together with the process, after a clean-up.
    static func cleaningUp<Value>(_ cleanUp: @escaping @Sendable () -> Void, while work: () -> Value) -> Value {
        endAfter(cleanUp)
        defer { termination.withLock { $0 = nil } }
        return work()
    }

    /// Does some asynchronous work that a signal ends together with the process, after a clean-up.
    static func cleaningUp<Value>(
        _ cleanUp: @escaping @Sendable () -> Void, while work: () async throws -> Value
    ) async rethrows -> Value {
        endAfter(cleanUp)
        defer { termination.withLock { $0 = nil } }
        return try await work()
    }

    private static func endAfter(_ cleanUp: @escaping @Sendable () -> Void) {
        termination.withLock { termination in
            termination = { number in
                cleanUp()
                _exit(128 + number)
            }
        }
    }

    /// Calls a closure at each SIGHUP, which ends a command that does not ask for this. SIGUSR1 and SIGUSR2, which would
    /// end it too, mean nothing from now on.
    static func onHangup(_ work: @escaping @Sendable () -> Void) {
        signal(SIGUSR1, SIG_IGN)
        signal(SIGUSR2, SIG_IGN)
        hangup.withLock { $0 = work }
    }

    /// Begins to hold signals back. Only the main thread may call it, before there is a second one.
    static func block() {
        var signals = set
        pthread_sigmask(SIG_BLOCK, &signals, nil)
    }

    /// Takes signals for as long as the process lives.
    static func takeForever() -> Never {
        while true {
            var signals = set
            var number: Int32 = 0
            guard sigwait(&signals, &number) == 0 else { continue }
            if number == SIGHUP, takeHangup() { continue }
            let terminate = termination.withLock { termination in
                defer { termination = nil }
                return termination
            }
            guard let terminate else { _exit(128 + number) }
            terminate(number)
        }
    }

    /// - Returns: Whether the process goes on.
    private static func takeHangup() -> Bool {
        if let work = hangup.withLock(\.self) {
            work()
            return true
        }
        // `nohup` has it ignored, but whoever waits for a signal is given it all the same.
        var action = sigaction()
        sigaction(SIGHUP, nil, &action)
        return unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self) == 1
    }

    private static var set: sigset_t {
        var signals = sigset_t()
        sigemptyset(&signals)
        sigaddset(&signals, SIGTERM)
        sigaddset(&signals, SIGINT)
        sigaddset(&signals, SIGHUP)
        return signals
    }
}
