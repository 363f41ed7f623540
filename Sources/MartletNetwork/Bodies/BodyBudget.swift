import MartletHTTP

/// Counts the memory that request bodies use, and decides whether a body may use more. This is a pure rule without a
/// lock or connection.
struct BodyBudget {
    /// The account that a body is charged to.
    enum Share: Hashable {
        /// An unidentified sender, charged to the network of the peer.
        case network(PeerNetwork)
        /// An identified caller.
        ///
        /// - Parameter at: The network of the peer, if each network of the caller has its own share; nil otherwise.
        case caller(String, scope: String, at: PeerNetwork? = nil)
    }

    let limits: BodyLimits
    /// The number of bytes used by identified callers.
    private(set) var known = 0
    /// The number of bytes used by unidentified senders.
    private(set) var unknown = 0
    private var shares: [Share: Int] = [:]
    private var connections: [UInt64: Connection] = [:]
    private var scopes: [String: Int] = [:]

    private struct Connection {
        var used = 0
        /// The number of bytes that unidentified senders use on the connection.
        var unknown = 0
    }

    init(limits: BodyLimits) {
        self.limits = limits
    }

    var isEmpty: Bool { known == 0 && unknown == 0 && shares.isEmpty && connections.isEmpty && scopes.isEmpty }

    func used(by share: Share) -> Int { shares[share] ?? 0 }

    /// Returns true if the unidentified senders of a network use at least half of their limit.
    func isHalfFull(_ network: PeerNetwork) -> Bool {
        used(by: .network(network)) >= limit(of: .network(network)) / 2
    }

    func used(on connection: UInt64) -> Int { connections[connection]?.used ?? 0 }

    /// Reserves bytes for a share, unless a limit would be exceeded.
    /// - Returns: True if all the bytes were reserved; false if none were reserved.
    mutating func reserve(_ count: Int, for share: Share, on connection: UInt64) -> Bool {
        let charged = chargeable(count, for: share, on: connection)
        guard used(by: share) + charged <= limit(of: share), used(on: connection) + count <= limits.connection else {
            return false
        }
        switch share {
        case .network: guard unknown + charged <= limits.strangers else { return false }
        case .caller(_, let scope, _):
            guard known + charged <= limits.total, scopes[scope, default: 0] + charged <= limits.scope else {
                return false
            }
        }
        change(by: count, charged, share, on: connection)
        return true
    }

    /// Releases bytes that were reserved for a share.
    mutating func release(_ count: Int, of share: Share, on connection: UInt64) {
        add(-count, to: share, on: connection)
    }

    /// Counts bytes that are already in memory, even beyond the limits. A negative number releases bytes.
    mutating func add(_ count: Int, to share: Share, on connection: UInt64) {
        change(by: count, chargeable(count, for: share, on: connection), share, on: connection)
    }

    private mutating func change(by count: Int, _ charged: Int, _ share: Share, on connection: UInt64) {
        Self.add(charged, to: &shares[share])
        var used = connections[connection] ?? Connection()
        used.used += count
        switch share {
        case .network:
            unknown += charged
            used.unknown += count
        case .caller(_, let scope, _):
            known += charged
            Self.add(charged, to: &scopes[scope])
        }
        connections[connection] = used.used > 0 ? used : nil
    }

    /// Returns how many of `count` bytes are charged.
    ///
    /// The first `limits.free` bytes of unidentified senders on a connection are not charged.
    private func chargeable(_ count: Int, for share: Share, on connection: UInt64) -> Int {
        guard case .network = share else { return count }
        let before = connections[connection]?.unknown ?? 0
        return max(0, before + count - limits.free) - max(0, before - limits.free)
    }

    private static func add(_ count: Int, to sum: inout Int?) {
        let new = (sum ?? 0) + count
        sum = new > 0 ? new : nil
    }

    private func limit(of share: Share) -> Int {
        switch share {
        case .network(.local): limits.strangers
        case .network: limits.network
        case .caller: limits.caller
        }
    }
}
