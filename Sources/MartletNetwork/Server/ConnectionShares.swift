/// Counts connections, and decides whether a network may open another one. A pure rule: no lock, no socket.
struct ConnectionShares {
    /// A limit that is nearly reached, so that idle connections must be closed.
    enum Shortage: Hashable {
        case everywhere
        case of(PeerNetwork)
    }

    private let limit: Int
    private var share: Int
    private(set) var total = 0
    private var networks: [PeerNetwork: Int] = [:]

    /// Creates an instance without connections.
    /// - Parameters:
    ///   - limit: The maximum number of connections.
    ///   - share: The maximum number of connections of one network. Does not apply to connections from this machine.
    init(limit: Int, share: Int) {
        self.limit = limit
        self.share = share
    }

    mutating func setShare(_ share: Int) { self.share = share }

    var isFull: Bool { total >= limit }

    func count(of network: PeerNetwork) -> Int { networks[network] ?? 0 }

    /// Counts a new connection if the network may open it.
    /// - Returns: Whether the connection is allowed.
    mutating func admit(_ network: PeerNetwork) -> Bool {
        guard !isFull, network == .local || count(of: network) < share else { return false }
        total += 1
        networks[network, default: 0] += 1
        return true
    }

    mutating func release(_ network: PeerNetwork) {
        total -= 1
        let left = count(of: network) - 1
        networks[network] = left > 0 ? left : nil
    }

    /// Returns the limit that is nearly reached; nil if none is. The last hundredth of each limit is kept free, so that
    /// the next connection does not have to wait.
    func shortage(for network: PeerNetwork) -> Shortage? {
        if network != .local, count(of: network) >= share - share / 100 { return .of(network) }
        return total >= limit - limit / 100 ? .everywhere : nil
    }

    /// Returns how many idle connections to close at once in a shortage.
    func surplus(in shortage: Shortage) -> Int {
        switch shortage {
        case .everywhere: max(1, limit / 100)
        case .of: max(1, share / 100)
        }
    }
}
