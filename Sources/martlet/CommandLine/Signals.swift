import Glibc
import Synchronization

/// SIGTERM and SIGINT as cancellation.
///
/// The signals are blocked in all threads, for which `block` must be called before there is a second one, and taken by
/// one thread that waits for them. A second signal ends the process at once.
enum Signals {
    static func block() {
        var signals = set
        pthread_sigmask(SIG_BLOCK, &signals, nil)
    }

    /// Runs the work in a task that is cancelled by the first signal.
    static func runUntilTermination(_ work: @escaping @Sendable () async -> Void) async {
        let task = Task { await work() }
        startThread { task.cancel() }
        await task.value
    }

    private static var set: sigset_t {
        var signals = sigset_t()
        sigemptyset(&signals)
        sigaddset(&signals, SIGTERM)
        sigaddset(&signals, SIGINT)
        return signals
    }

    private static func startThread(_ terminated: @escaping @Sendable () -> Void) {
        let context = Unmanaged.passRetained(Waiter(terminated)).toOpaque()
        var thread = pthread_t()
        pthread_create(
            &thread, nil,
            { context in
                guard let context else { return nil }
                Unmanaged<Waiter>.fromOpaque(context).takeRetainedValue().wait()
                return nil
            }, context)
        pthread_detach(thread)
    }

    private final class Waiter: Sendable {
        private let terminated: @Sendable () -> Void

        init(_ terminated: @escaping @Sendable () -> Void) {
            self.terminated = terminated
        }

        func wait() {
            var signals = Signals.set
            var number: Int32 = 0
            sigwait(&signals, &number)
            terminated()
            sigwait(&signals, &number)
            _exit(128 + number)
        }
    }
}
