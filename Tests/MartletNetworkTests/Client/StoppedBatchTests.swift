import MartletHTTP
import Synchronization
import Testing

@testable import MartletNetwork

struct StoppedBatchTests {
    private static let count = 3000

    /// Holds its answers until it is opened.
    private final class Gate: Sendable {
        private let state = Mutex<(isOpen: Bool, waiting: [CheckedContinuation<Void, Never>])>((false, []))

        func pass() async {
            await withCheckedContinuation { waiter in
                let isOpen = state.withLock { state in
                    if !state.isOpen { state.waiting.append(waiter) }
                    return state.isOpen
                }
                if isOpen { waiter.resume() }
            }
        }

        func open() {
            let waiting = state.withLock { state in
                state.isOpen = true
                defer { state.waiting = [] }
                return state.waiting
            }
            for waiter in waiting { waiter.resume() }
        }
    }

    private func batch(to origin: HTTPOrigin, _ version: TransportSettings.Version, _ stop: StopSignal) -> RequestBatch
    {
        var batch = RequestBatch(
            RequestBatch.Shared(
                origin: origin, settings: TransportSettings(version: version, connectionLimit: 2), pathPrefix: "/",
                body: [1]))
        for item in 0..<Self.count { batch.append(path: String(item).utf8) }
        batch.stop = stop
        return batch
    }

    /// How many of a batch were answered and how many stopped, after the other of both.
    private func outcome(_ ledger: BatchLedger) -> (answered: Int, stopped: Int) {
        let stopped = ledger.entries.values.count {
            guard case .failure(let error) = $0 else { return false }
            return error.kind == .cancelled && !error.mayHaveBeenProcessed
        }
        return (ledger.entries.values.count { $0 == .success }, stopped)
    }

    @Test(
        "What is on its way is waited for, and nothing more is written",
        arguments: [
            TransportSettings.Version.http1, .http2,
        ], [false, true])
    func aBatchStopsWhereItStands(_ version: TransportSettings.Version, byItsLease: Bool) async throws {
        let loops = try EventLoopGroup(count: 2)
        let gate = Gate()
        let (arrivals, arrived) = AsyncStream.makeStream(of: Void.self)
        let count = Atomic<Int>(0)
        let handler = ClosureHandler(limit: 10) { _ in
            count.wrappingAdd(1, ordering: .relaxed)
            arrived.yield()
            await gate.pass()
            return HTTPResponse(.ok)
        }
        let server = HTTPServer(loops: loops, handler: handler)
        let address = try await server.listen(on: .tcp(host: "127.0.0.1", port: 0), tls: nil)
        let client = HTTPClient(loops: loops)
        let lease = SendingLease()
        lease.extend(until: .now + .seconds(300))
        let (ledger, stop) = (BatchLedger(), StopSignal(lease: lease))
        let origin = HTTPOrigin(scheme: .http, host: "127.0.0.1", port: address.port)
        let batch = batch(to: origin, version, stop)
        let sending = Task { await client.send(batch, before: .now + .seconds(300)) { ledger.record($0) } }
        for await _ in arrivals { break }
        // The end of the lease is told to nobody.
        if byItsLease { lease.revoke() } else { stop.stop() }
        gate.open()
        await sending.value
        let (answered, stopped) = outcome(ledger)
        #expect(answered + stopped == Self.count)
        #expect(ledger.doubles == 0)
        #expect(stopped > 0 && answered > 0)
        #expect(count.load(ordering: .relaxed) == answered)
        await client.shutDown()
        await server.shutDown()
    }

    @Test func aBatchStoppedBeforeItBeginsIsNotSent() async throws {
        let loops = try EventLoopGroup(count: 1)
        let client = HTTPClient(loops: loops)
        let (ledger, stop) = (BatchLedger(), StopSignal())
        stop.stop()
        let nobody = HTTPOrigin(scheme: .http, host: "127.0.0.1", port: 9)
        await client.send(batch(to: nobody, .http2, stop), before: .now + .seconds(300)) { ledger.record($0) }
        #expect(outcome(ledger) == (0, Self.count))
        await client.shutDown()
    }

    @Test func requestsReturnedAfterAStopAreNotSentAgain() {
        let ledger = BatchLedger()
        let nobody = HTTPOrigin(scheme: .http, host: "127.0.0.1", port: 9)
        let run = ledger.run(batch(to: nobody, .http2, StopSignal()), from: .now, before: .now + .seconds(300))
        let first = run.next()
        run.stop()
        #expect(!run.isComplete && !run.hasItems)
        run.giveBack(first ?? 0)
        run.flush()
        #expect(run.isComplete && !run.hasItems)
        #expect(outcome(ledger) == (0, Self.count))
    }

    @Test func anActionThatWasTakenBackIsNotDone() {
        let stop = StopSignal()
        let done = Mutex<[String]>([])
        let first = stop.onStop { done.withLock { $0.append("first") } }
        _ = stop.onStop { done.withLock { $0.append("second") } }
        stop.remove(first)
        stop.stop()
        stop.stop()
        _ = stop.onStop { done.withLock { $0.append("late") } }
        #expect(done.withLock { $0 } == ["second", "late"])
        #expect(stop.isStopped)
    }
}
