import Synchronization

/// Tells a transport to send no further requests. A signal that is set cannot be reset. Thread-safe.
///
/// If the signal has a lease, the first read of `isStopped` after the end of the lease sets the signal.
public final class StopSignal: Sendable {
    /// Identifies an action that runs when the signal is set, so that the action can be removed.
    public struct Registration: Sendable {
        fileprivate let number: Int
    }

    private struct State {
        var last = 0
        var actions: [Int: @Sendable () -> Void] = [:]
    }

    private let flag = Atomic<Bool>(false)
    private let state = Mutex(State())
    private let lease: SendingLease?

    /// Creates a signal that is not set.
    /// - Parameter lease: The lease whose end also sets the signal; nil for none.
    public init(lease: SendingLease? = nil) {
        self.lease = lease
    }

    public var isStopped: Bool {
        if flag.load(ordering: .acquiring) { return true }
        guard let lease, lease.hasEnded else { return false }
        stop()
        return true
    }

    public func stop() {
        let actions = state.withLock { state in
            flag.store(true, ordering: .releasing)
            defer { state.actions = [:] }
            return state.actions
        }
        for action in actions.values { action() }
    }

    /// Runs an action when the signal is set, or immediately if it is already set.
    public func onStop(_ action: @escaping @Sendable () -> Void) -> Registration {
        let isStopped = isStopped
        let number: Int? = state.withLock { state in
            guard !isStopped, !flag.load(ordering: .acquiring) else { return nil }
            state.last += 1
            state.actions[state.last] = action
            return state.last
        }
        if number == nil { action() }
        return Registration(number: number ?? 0)
    }

    public func remove(_ registration: Registration) {
        _ = state.withLock { $0.actions.removeValue(forKey: registration.number) }
    }
}
