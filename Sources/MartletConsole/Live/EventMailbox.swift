import Synchronization

/// The events that wait to be written to one stream.
///
/// Only the newest event of each kind is kept, so a slow reader misses events, but needs no more memory.
final class EventMailbox: Sendable {
    private struct State {
        var events: [(kind: String, bytes: [UInt8])] = []
        var isEnded = false
    }

    private let state = Mutex(State())
    private let wake: AsyncStream<Void>.Continuation
    /// Yields a value after an event was added. The writer of the stream then takes all waiting events.
    let wakes: AsyncStream<Void>

    init() {
        (wakes, wake) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    /// Adds an event and removes an older event of the same kind.
    ///
    /// After `end`, no event is added.
    func post(_ kind: String, _ bytes: [UInt8]) {
        let isNew = state.withLock { state in
            guard !state.isEnded else { return false }
            state.events.removeAll { $0.kind == kind }
            state.events.append((kind, bytes))
            return true
        }
        if isNew { wake.yield() }
    }

    /// Adds the event that ends the stream.
    ///
    /// No event can be added after it.
    func end(_ bytes: [UInt8]) {
        post("end", bytes)
        state.withLock { $0.isEnded = true }
        wake.yield()
        wake.finish()
    }

    /// Whether the event that ends the stream was added.
    var isEnded: Bool { state.withLock(\.isEnded) }

    /// Removes and returns the bytes of all events, and returns whether the stream ends after them.
    func take() -> (bytes: [UInt8], isEnded: Bool) {
        state.withLock { state in
            defer { state.events = [] }
            return (state.events.flatMap(\.bytes), state.isEnded)
        }
    }
}
