public import MartletHTTP
import Synchronization

/// The hubs that this process sends for. If several processes share a storage, only one of them at a time owns a hub
/// (`NodeStore`). The owner alone sends the notifications of the hub and runs its jobs. A process that does not share
/// its storage owns every hub. It may have a lease too, which ends when it must not send for a while.
public final class HubOwnership: Sendable {
    /// The lease that this process must hold to send anything; nil if it may always send.
    public let lease: SendingLease?
    private let ownsAll: Bool
    private let hubs = Mutex<Set<Hub.ID>>([])

    /// - Parameter lease: The lease of a process that shares its storage with others. Such a process owns no hub at
    ///   first. Nil for a process that owns every hub.
    public init(lease: SendingLease? = nil) {
        self.lease = lease
        ownsAll = lease == nil
    }

    /// Creates the ownership of a process that owns every hub, and that may send while it has a lease.
    public init(ofAllUnder lease: SendingLease) {
        self.lease = lease
        ownsAll = true
    }

    /// Returns whether this process sends for a hub.
    public func owns(_ hub: Hub.ID) -> Bool {
        ownsAll || hubs.withLock { $0.contains(hub) }
    }

    /// The hubs that this process owns among processes that share a storage. Always empty in a process that does not
    /// share its storage, although that process owns every hub.
    public var all: Set<Hub.ID> { hubs.withLock(\.self) }

    func add(_ hubs: Set<Hub.ID>) {
        self.hubs.withLock { $0.formUnion(hubs) }
    }

    func remove(_ hub: Hub.ID) {
        hubs.withLock { _ = $0.remove(hub) }
    }
}
