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

    @Test(
        "What a connection has drawn and not written fails as its pool stops",
        arguments: [TransportSettings.Version.http1, .http2])
    func unwrittenItemsFailAsThePoolStops(_ version: TransportSettings.Version) async throws {
        let loops = try EventLoopGroup(count: 1)
        let loop = loops.loops[0]
        let server = HTTPServer(loops: loops, handler: ClosureHandler { _ in HTTPResponse(.ok) })
        let address = try await server.listen(on: .tcp(host: "127.0.0.1", port: 0), tls: nil)
        let target = Connector.Target(
            origin: HTTPOrigin(scheme: .http, host: "127.0.0.1", port: address.port), version: version, context: nil,
            addresses: .any, unixPath: nil, limits: ClientLimits())
        let pool = await loop.run {
            LoopBound(ClientPool(target, connectionLimit: 1, load: PoolLoad(), loop: loop), loop: loop)
        }
        // With a connection that is open and idle, the next request is drawn at once and written later in the turn.
        await withCheckedContinuation { answered in
            loop.perform {
                pool.value.add(Self.run(to: target.origin, BatchLedger()) { answered.resume() })
            }
        }
        let shutDown = TransportError(.shutDown, mayHaveBeenProcessed: false, "the client was shut down")
        let ledger = BatchLedger()
        let isComplete = await loop.run {
            let run = Self.run(to: target.origin, ledger)
            pool.value.add(run)
            pool.value.stop(shutDown)
            return run.isComplete
        }
        #expect(isComplete)
        #expect(ledger.entries == [0: .failure(shutDown)])
        await server.shutDown()
    }

    /// A batch of one request, which may wait for ten minutes.
    private static func run(
        to origin: HTTPOrigin, _ ledger: BatchLedger, completed: @escaping () -> Void = {}
    ) -> BatchRun {
        var batch = RequestBatch(RequestBatch.Shared(origin: origin, pathPrefix: "/", body: [1]))
        batch.append(path: [])
        return BatchRun(
            batch, from: .now, before: .now + .seconds(600), results: { ledger.record($0) }, completed: completed)
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
