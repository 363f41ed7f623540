import Synchronization

/// The lists of tags that had too many members for the sparse form of `AudienceStatement`. After a minute the sparse
/// form is tried again, because the tags may have lost members.
final class DenseTags: Sendable {
    private let state = Mutex([[Int64]: ContinuousClock.Instant]())

    private static let (limit, lifetime) = (10_000, Duration.seconds(60))

    func contains(_ tags: [Int64]) -> Bool {
        let key = tags.sorted()
        return state.withLock { state in
            guard let until = state[key] else { return false }
            if until > .now { return true }
            state[key] = nil
            return false
        }
    }

    func insert(_ tags: [Int64]) {
        state.withLock { state in
            if state.count >= Self.limit { state = [:] }
            state[tags.sorted()] = .now + Self.lifetime
        }
    }
}
