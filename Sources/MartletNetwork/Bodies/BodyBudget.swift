import MartletHTTP

/// Counts the memory that bodies use, and says who may have more of it. The rule alone: no lock, no connection.
struct BodyBudget {
    /// Who is charged for a body.
    enum Share: Hashable {
        /// A sender who is not known, by the network of the peer.
        case network(PeerNetwork)
        case caller(String, scope: String)
    }

    let limits: BodyLimits
    /// Bytes of known callers.
    private(set) var known = 0
    /// Bytes of strangers.
    private(set) var unknown = 0
    private var shares: [Share: Int] = [:]
    private var connections: [UInt64: Int] = [:]

    init(limits: BodyLimits) {
        self.limits = limits
    }

    var isEmpty: Bool { known == 0 && unknown == 0 && shares.isEmpty && connections.isEmpty }

    func used(by share: Share) -> Int { shares[share] ?? 0 }
    func used(on connection: UInt64) -> Int { connections[connection] ?? 0 }

    /// - Returns: Whether all of the bytes were reserved; otherwise none was.
    mutating func reserve(_ count: Int, for share: Share, on connection: UInt64) -> Bool {
        let ofShare = used(by: share) + count
        let ofConnection = used(on: connection) + count
        guard ofShare <= limit(of: share), ofConnection <= limits.connection else { return false }
        if case .network = share {
            guard unknown + count <= limits.strangers else { return false }
            unknown += count
        } else {
            guard known + count <= limits.total else { return false }
            known += count
        }
        shares[share] = ofShare
        connections[connection] = ofConnection
        return true
    }

    /// Gives back what was reserved.
    mutating func release(_ count: Int, of share: Share, on connection: UInt64) {
        if case .network = share { unknown -= count } else { known -= count }
        let ofShare = used(by: share) - count
        shares[share] = ofShare > 0 ? ofShare : nil
        let ofConnection = used(on: connection) - count
        connections[connection] = ofConnection > 0 ? ofConnection : nil
    }

    private func limit(of share: Share) -> Int {
        switch share {
        case .network(.local): limits.strangers
        case .network: limits.network
        case .caller: limits.caller
        }
    }
}
