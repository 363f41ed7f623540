import Synchronization

/// Remembers the `state` of sign-ins whose people the provider has authenticated, so that no sign-in succeeds twice, even
/// if the provider exchanges a code twice. If there are more than `countLimit`, the oldest is forgotten.
final class UsedStates: Sendable {
    static let countLimit = 1000

    private struct State {
        var known: Set<String> = []
        var order: [String] = []
        /// The index in `order` that is replaced next.
        var next = 0
    }

    private let state = Mutex(State())

    /// Remembers the `state` of a sign-in.
    /// - Returns: False if it was remembered already, so the sign-in must not succeed again.
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
