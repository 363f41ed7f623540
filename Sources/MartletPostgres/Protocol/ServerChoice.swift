import Synchronization

/// The server of an address with several servers that accepted writes last. Connections try it first.
final class ServerChoice: Sendable {
    private let stored = Atomic(0)

    /// Makes the next connection begin with another server: this one answers, but completes nothing.
    func passOver() { stored.wrappingAdd(1, ordering: .relaxed) }

    /// The position of the server in the address; may be higher than the number of servers.
    var index: Int {
        get { stored.load(ordering: .relaxed) }
        set { stored.store(newValue, ordering: .relaxed) }
    }
}
