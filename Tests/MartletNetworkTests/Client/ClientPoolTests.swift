import MartletHTTP
import Synchronization
import Testing

@testable import MartletNetwork

struct ClientPoolTests {
    /// Stops a pool as it ends, as a client does.
    ///
    /// Sendable because it is made, held and ended on the pool's loop.
    private final class Holder: @unchecked Sendable {
        private let pool: ClientPool
        private let ended: @Sendable () -> Void

        init(_ pool: ClientPool, ended: @escaping @Sendable () -> Void) {
            self.pool = pool
            self.ended = ended
        }

        deinit {
            pool.stop(TransportError(.shutDown, mayHaveBeenProcessed: false, "the client was shut down"))
            ended()
        }
    }

    @Test func aBatchMayBeTheLastThatHoldsTheClient() async throws {
        let loop = try EventLoop()
        let hasEnded = Mutex(false)
        await loop.run {
            let origin = HTTPOrigin(scheme: .http, host: "127.0.0.1", port: 9)
            let target = Connector.Target(
                origin: origin, version: .http2, context: nil, addresses: .any, unixPath: nil, limits: ClientLimits())
            let pool = ClientPool(target, connectionLimit: 1, load: PoolLoad(), loop: loop)
            pool.add(Self.completeRun(to: origin, holding: Holder(pool) { hasEnded.withLock { $0 = true } }))
            pool.removeComplete()
        }
        #expect(hasEnded.withLock { $0 })
    }

    private static func completeRun(to origin: HTTPOrigin, holding holder: Holder) -> BatchRun {
        var batch = RequestBatch(RequestBatch.Shared(origin: origin, pathPrefix: "/", body: []))
        batch.append(path: [])
        let run = BatchRun(
            batch, from: .now, before: .now, results: { _ in withExtendedLifetime(holder) {} }, completed: {})
        run.abandon(TransportError(.cancelled, mayHaveBeenProcessed: false, "it is done"))
        return run
    }
}
