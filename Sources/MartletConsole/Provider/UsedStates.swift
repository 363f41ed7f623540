import Synchronization

/// Remembers sign-ins that have succeeded, so that none does so twice, even if the provider exchanges a code twice.
///
/// Only people whom the provider has authenticated add to it; beyond the limit the oldest is forgotten.
final class UsedStates: Sendable {
    static let countLimit = 1000

    private struct State {
        var known: Set<String> = []
        var order: [String] = []
        /// The index in `order` that is replaced next.
        var next = 0
    }

    private let state = Mutex(State())

    /// Returns whether a sign-in succeeds for the first time, and remembers it.
    func use(_ text: String) -> Bool {
        state.withLock { state in
            guard state.known.insert(text).inserted else { return false }
            guard state.order.count == Self.countLimit else {
                state.order.append(text)
                return true
            }
            state.known.remove(state.order[state.next])
            state.order[state.next] = text
            state.next = (state.next + 1) % Self.countLimit
            return true
        }
    }
}
