import Synchronization

/// The server of an address with several servers that accepted writes last. Connections try it first.
final class ServerChoice: Sendable {
    private let stored = Atomic(0)

    /// The position of the server in the address.
    var index: Int {
        get { stored.load(ordering: .relaxed) }
        set { stored.store(newValue, ordering: .relaxed) }
    }
}
