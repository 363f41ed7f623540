import Synchronization

/// The events that one stream has still to write: the newest of each kind. A slow reader misses events, but uses no
/// more memory.
final class EventMailbox: Sendable {
    private struct State {
        var events: [(kind: String, bytes: [UInt8])] = []
        var isEnded = false
    }

    private let state = Mutex(State())
    private let wake: AsyncStream<Void>.Continuation
    /// Yields when there is something to take.
    let wakes: AsyncStream<Void>

    init() {
        (wakes, wake) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    /// Adds an event in place of one of the same kind. After `end`, nothing is added.
    func post(_ kind: String, _ bytes: [UInt8]) {
        let isNew = state.withLock { state in
            guard !state.isEnded else { return false }
            state.events.removeAll { $0.kind == kind }
            state.events.append((kind, bytes))
            return true
        }
        if isNew { wake.yield() }
    }

    /// Adds the last event.
    func end(_ bytes: [UInt8]) {
        post("end", bytes)
        state.withLock { $0.isEnded = true }
        wake.yield()
        wake.finish()
    }

    /// Takes all events.
    func take() -> (bytes: [UInt8], isEnded: Bool) {
        state.withLock { state in
            defer { state.events = [] }
            return (state.events.flatMap(\.bytes), state.isEnded)
        }
    }
}
