import MartletCore
import Synchronization

/// Lets changes through, or refuses them all while the data of the server is moved away (`SQLiteStorage.stopWriting`).
final class WriteGate: Sendable {
    private struct State {
        var isClosed = false
        var running = 0
    }

    private let state = Mutex(State())

    var isClosed: Bool { state.withLock(\.isClosed) }

    static let refusal = StorageError(
        .unavailable, "The data of the server is being moved, and nothing is changed for some seconds. Try again.")

    /// Makes a change of files, unless the gate is closed.
    func pass<Value>(_ change: () throws(ContainerError) -> Value) throws(ContainerError) -> Value {
        let isOpen = state.withLock { state in
            guard !state.isClosed else { return false }
            state.running += 1
            return true
        }
        guard isOpen else { throw .storage(Self.refusal) }
        defer { state.withLock { $0.running -= 1 } }
        return try change()
    }

    /// Closes the gate, and returns when no change is being made any more.
    func close() async {
        state.withLock { $0.isClosed = true }
        // Nothing tells when a change ends, and none lasts long: a piece of a file, or its name.
        while state.withLock({ $0.running > 0 }) { try? await Task.sleep(for: .milliseconds(2)) }
    }

    func open() { state.withLock { $0.isClosed = false } }
}
