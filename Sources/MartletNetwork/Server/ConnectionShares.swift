/// Counts connections, and decides whether a network may open another one. A pure rule: no lock, no socket.
struct ConnectionShares {
    /// The limit that is nearly reached, so that idle connections must be closed.
    enum Shortage: Hashable {
        case everywhere
        case of(PeerNetwork)
    }

    private let limit: Int
    private var share: Int
    private(set) var total = 0
    private var networks: [PeerNetwork: Int] = [:]

    /// - Parameters:
    ///   - limit: The most connections.
    ///   - share: The most connections of one network; not applied to this machine.
    init(limit: Int, share: Int) {
        self.limit = limit
        self.share = share
    }

    mutating func setShare(_ share: Int) { self.share = share }

    var isFull: Bool { total >= limit }

    func count(of network: PeerNetwork) -> Int { networks[network] ?? 0 }

    /// - Returns: True if the network may open the connection, which is then counted.
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

    /// Returns the limit that is nearly reached. The last hundredth is kept free, so that the next connection need not
    /// wait.
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
