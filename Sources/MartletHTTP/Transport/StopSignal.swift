import Synchronization

/// Tells a transport to send no further requests. A signal that is set cannot be reset. Thread-safe.
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

    public init() {}

    public var isStopped: Bool { flag.load(ordering: .acquiring) }

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
        let number: Int? = state.withLock { state in
            guard !isStopped else { return nil }
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
