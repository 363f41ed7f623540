/// Counts connections, and says who may have another one. The rule alone: no lock, no socket.
struct ConnectionShares {
    /// What is running short, so that idle connections have to go.
    enum Shortage: Hashable {
        case everywhere
        case of(PeerNetwork)
    }

    private let limit: Int
    private let share: Int
    private(set) var total = 0
    private var networks: [PeerNetwork: Int] = [:]

    /// - Parameters:
    ///   - limit: Of all connections.
    ///   - share: Of the connections of one network; this machine has none.
    init(limit: Int, share: Int) {
        self.limit = limit
        self.share = share
    }

    var isFull: Bool { total >= limit }

    func count(of network: PeerNetwork) -> Int { networks[network] ?? 0 }

    /// - Returns: Whether the network may have the connection, which is counted then.
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

    /// What runs short now. The last hundredth is kept free, so that the next connection need not wait.
    func shortage(for network: PeerNetwork) -> Shortage? {
        if network != .local, count(of: network) >= share - share / 100 { return .of(network) }
        return total >= limit - limit / 100 ? .everywhere : nil
    }

    /// How many idle connections are closed at once when something runs short.
    func surplus(in shortage: Shortage) -> Int {
        switch shortage {
        case .everywhere: max(1, limit / 100)
        case .of: max(1, share / 100)
        }
    }
}
