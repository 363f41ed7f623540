import Glibc
import MartletServer
import Synchronization

/// Handles SIGTERM and SIGINT as cancellation, and SIGHUP as reload.
///
/// The main thread blocks the signals before other threads start, so that these threads inherit the blocking. From then
/// on, the main thread only waits for signals. A command that can end in an orderly way uses `runUntilTermination`.
/// Otherwise, and at the second signal, the process ends at once.
enum Signals {
    private static let termination = Mutex<(@Sendable (Int32) -> Void)?>(nil)
    private static let hangup = Mutex<(@Sendable () -> Void)?>(nil)
    /// Whether the next SIGHUP comes from this process, which is to be restarted.
    private static let isRestarting = Mutex(false)

    /// Runs the work in a task that is cancelled by the first signal.
    /// - Parameter announce: Called with the name of the first signal, before the task is cancelled.
    static func runUntilTermination(
        announce: @escaping @Sendable (String) -> Void = { _ in }, _ work: @escaping @Sendable () async -> Void
    ) async {
        // The task is made under the lock, so that a signal sent in response to the first output of the work already
        // finds the task.
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

    /// Runs work during which a signal ends the process, after a clean-up.
    static func cleaningUp<Value>(_ cleanUp: @escaping @Sendable () -> Void, while work: () -> Value) -> Value {
        endAfter(cleanUp)
        defer { termination.withLock { $0 = nil } }
        return work()
    }

    /// Runs asynchronous work during which a signal ends the process, after a clean-up.
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

    /// Calls a closure at each SIGHUP. In commands that do not set a closure, SIGHUP ends the process. From the call
    /// on, SIGUSR1 and SIGUSR2 are ignored instead of ending the process.
    static func onHangup(_ work: @escaping @Sendable () -> Void) {
        signal(SIGUSR1, SIG_IGN)
        signal(SIGUSR2, SIG_IGN)
        hangup.withLock { $0 = work }
    }

    /// Begins to block signals. Must be called by the main thread before there is a second thread.
    static func block() {
        var signals = set
        pthread_sigmask(SIG_BLOCK, &signals, nil)
    }

    /// Handles signals as long as the process runs. The main thread calls this.
    static func takeForever() -> Never {
        ProcessRestart.leave {
            isRestarting.withLock { $0 = true }
            kill(getpid(), SIGHUP)
        }
        var isTerminating = false
        while true {
            var signals = set
            var number: Int32 = 0
            guard sigwait(&signals, &number) == 0 else { continue }
            if number == SIGHUP, isRestarting.withLock(\.self) {
                // A process that was told to stop does so.
                guard !isTerminating else { continue }
                // Another SIGHUP would end the new program, which does not handle it yet.
                signal(SIGHUP, SIG_IGN)
                ProcessRestart.execute()
            }
            if number == SIGHUP, takeHangup() { continue }
            isTerminating = true
            let terminate = termination.withLock { termination in
                defer { termination = nil }
                return termination
            }
            guard let terminate else { _exit(128 + number) }
            terminate(number)
        }
    }

    /// Handles a SIGHUP.
    /// - Returns: Whether the process continues.
    private static func takeHangup() -> Bool {
        if let work = hangup.withLock(\.self) {
            work()
            return true
        }
        // The process continues if SIGHUP is set to be ignored, as `nohup` does. `sigwait` returns even an ignored
        // SIGHUP.
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
