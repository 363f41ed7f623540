import MartletHTTP

/// A client's pools on one loop. Owned by that loop.
final class LoopClient {
    /// What connections are shared by.
    struct Key: Hashable {
        let origin: HTTPOrigin
        let settings: TransportSettings
        let unixPath: String?
    }

    private let loop: EventLoop
    private let makeTarget: (Key) throws(TransportError) -> Connector.Target
    private var pools: [Key: ClientPool] = [:]
    private var stopped: TransportError?

    init(loop: EventLoop, makeTarget: @escaping (Key) throws(TransportError) -> Connector.Target) {
        self.loop = loop
        self.makeTarget = makeTarget
    }

    /// The pool of a key.
    /// - Parameter limit: This loop's share of the connections to the origin.
    func pool(_ key: Key, limit: Int) throws(TransportError) -> ClientPool {
        if let stopped { throw stopped }
        if let pool = pools[key] { return pool }
        if pools.count >= 256 { pools = pools.filter { !$0.value.isIdle } }
        let pool = ClientPool(try makeTarget(key), connectionLimit: limit, loop: loop)
        pools[key] = pool
        return pool
    }

    /// The connections that are made, by `TransportSettings.purpose`.
    var openCounts: [String: Int] {
        pools.reduce(into: [:]) { $0[$1.key.settings.purpose, default: 0] += $1.value.openCount }
    }

    func stop() {
        let error = TransportError(.shutDown, mayHaveBeenProcessed: false, "the client was shut down")
        stopped = error
        for pool in pools.values { pool.stop(error) }
    }
}
