import Synchronization

/// Counts the steps of what is under way, storage calls and pushes, and lets something happen before one of them.
final class Steps: Sendable {
    private struct State {
        var count = 0
        var chosen: Int?
        var action: (@Sendable () async -> Void)?
    }

    private let state = Mutex(State())

    var count: Int { state.withLock { $0.count } }

    /// Whether the chosen step has come.
    var hasActed: Bool { state.withLock { $0.chosen != nil && $0.action == nil } }

    /// - Parameter step: Counted from 1, from now on.
    func act(before step: Int, _ action: @escaping @Sendable () async -> Void) {
        state.withLock { $0 = State(count: 0, chosen: step, action: action) }
    }

    /// A step is about to be taken.
    func next() async {
        let action = state.withLock { state -> (@Sendable () async -> Void)? in
            state.count += 1
            guard state.count == state.chosen else { return nil }
            defer { state.action = nil }
            return state.action
        }
        await action?()
    }
}
