import MartletHTTP

/// The connection pools that an HTTP client has on one loop. Owned by that loop.
final class LoopClient {
    private let loop: EventLoop
    private let makeTarget: (PoolGroup.Key) throws(TransportError) -> Connector.Target
    private var pools: [PoolGroup: ClientPool] = [:]
    private var stopped: TransportError?

    init(loop: EventLoop, makeTarget: @escaping (PoolGroup.Key) throws(TransportError) -> Connector.Target) {
        self.loop = loop
        self.makeTarget = makeTarget
    }

    /// Returns this loop's pool of a group. Creates the pool if it does not exist.
    /// - Parameter index: The index of the pool in the group.
    func pool(of group: PoolGroup, at index: Int) throws(TransportError) -> ClientPool {
        if let stopped { throw stopped }
        if let pool = pools[group] { return pool }
        if pools.count >= PoolGroup.limit { pools = pools.filter { !$0.value.isIdle } }
        let pool = ClientPool(
            try makeTarget(group.key), connectionLimit: group.connectionLimit(of: index),
            leastInFlight: InFlightLimit.leastOfLane / group.loads.count, load: group.loads[index], loop: loop)
        pools[group] = pool
        return pool
    }

    /// The number of established connections, keyed by `TransportSettings.purpose`.
    var openCounts: [String: Int] {
        pools.reduce(into: [:]) { $0[$1.key.key.settings.purpose, default: 0] += $1.value.openCount }
    }

    func stop() {
        let error = TransportError(.shutDown, mayHaveBeenProcessed: false, "the client was shut down")
        stopped = error
        for pool in pools.values { pool.stop(error) }
    }
}
