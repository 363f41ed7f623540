import MartletHTTP
import MartletModel
import MartletNetwork
import Synchronization
import Testing

@testable import MartletSimulator

/// What a client sees of faults that meet a connection, and that its requests survive them.
struct ConnectionFaultTests {
    /// Sends so many requests at once, each to a handle of its own.
    /// - Returns: How often which summary came.
    private func burst(_ run: CourierRun, _ count: Int) async -> [String: Int] {
        await withTaskGroup(of: String.self) { group in
            for number in 0..<count { group.addTask { await run.send("h\(number)").summary } }
            return await group.reduce(into: [:]) { $0[$1, default: 0] += 1 }
        }
    }

    /// How often the handles got which number of messages.
    private func arrivals(_ run: CourierRun, _ count: Int) async throws -> [Int: Int] {
        let (_, counters) = try await run.control(.get, "/simulator/counters")
        return (0..<count).reduce(into: [:]) { arrivals, number in
            arrivals[counters["courier"]?["taken.h\(number)"]?.integer.map(Int.init) ?? 0, default: 0] += 1
        }
    }

    @Test(arguments: [
        "goAway", "goAway twice=true", "goAway debug=text", "goAway debug=empty", "goAway then=stay",
        "goAway before=3", "goAway before=1 then=stay code=ENHANCE_YOUR_CALM", "goAway none=true",
    ])
    func aGoodbyeInABurstLosesNothingAndDoublesNothing(fault: String) async throws {
        let skip = fault.contains("none") ? 0 : 20
        try await withCourier("\(fault) skip=\(skip) next=1") { (run) async throws in
            let summaries = await burst(run, 60)
            #expect(summaries == ["200 taken 5": 60])
            let arrivals = try await arrivals(run, 60)
            #expect(arrivals == [1: 60])
            #expect(try await run.count("faults.goAway") == 1)
            #expect(await run.send("later").summary == "200 taken 5")
            #expect(try await run.count("connections") >= 2)
        }
    }

    @Test func unansweredRequestsOfAClosedConnectionMayHaveBeenProcessed() async throws {
        try await withCourier("slow delay=60000 next=1; goAway before=1 then=close skip=1 next=1") {
            (run) async throws in
            async let first = run.send("slow")
            while try await run.taken("slow") == 0 { await Task.yield() }
            #expect(await run.send("second").summary == "200 taken 5")
            guard case .failure(let error) = await first else {
                Issue.record("the first request cannot have an answer")
                return
            }
            #expect(error.mayHaveBeenProcessed)
            #expect(try await run.taken("second") == 1)
        }
    }

    @Test func aGoodbyeCanComeBeforeTheFirstRequest() async throws {
        try await withCourier("goAway at=connect next=1") { (run) async throws in
            let summaries = await burst(run, 10)
            #expect(summaries == ["200 taken 5": 10])
            let arrivals = try await arrivals(run, 10)
            #expect(arrivals == [1: 10])
            #expect(try await run.count("connections") >= 2)
        }
    }

    @Test func requestsWaitForTheStreamLimit() async throws {
        try await withCourier("streamLimit limits=1,1000,1,0,100 interval=20 at=connect") { (run) async throws in
            #expect(await burst(run, 200) == ["200 taken 5": 200])
            let arrivals = try await arrivals(run, 200)
            #expect(arrivals == [1: 200])
        }
    }

    @Test func aRefusedStreamIsSentAgainAndAnotherResetIsNot() async throws {
        try await withCourier("resetStream next=3; resetStream code=INTERNAL_ERROR next=1") { (run) async throws in
            #expect(await burst(run, 20) == ["200 taken 5": 19, "reset": 1])
            let arrivals = try await arrivals(run, 20)
            #expect(arrivals == [1: 19, 0: 1])
            #expect(try await run.count("faults.resetStream") == 4)
        }
    }

    @Test func aSmallWindowOnlyDelaysABody() async throws {
        try await withCourier("smallWindow bytes=16 delay=500") { (run) async throws in
            let clock = ContinuousClock()
            let time = try await clock.measure {
                // The first request may go out before the window is known.
                #expect(try await run.send().get().status == .ok)
                let answer = try await run.send("bob", body: [UInt8](repeating: 1, count: 5000)).get()
                #expect(answer.bytes == Array("taken 5000".utf8))
            }
            #expect(time >= .milliseconds(500))
        }
    }

    @Test func aBodyThatIsNotLetThroughTimesOut() async throws {
        try await withCourier("smallWindow bytes=16 delay=600000") { (run) async throws in
            #expect(try await run.send().get().status == .ok)
            let body = [UInt8](repeating: 1, count: 5000)
            let summary = await run.send("bob", body: body, patience: .seconds(2)).summary
            #expect(summary == "timedOut")
            #expect(try await run.taken("bob") == 0)
        }
    }

    @Test func aConnectionCanFallSilent() async throws {
        try await withCourier("blackHole next=1") { (run) async throws in
            #expect(await run.send(patience: .milliseconds(300)).summary == "timedOut")
            #expect(try await run.taken() == 0)
        }
    }

    @Test func aConnectionCanBeResetBeforeItsFirstRequest() async throws {
        try await withCourier("reset at=connect") { (run) async throws in
            guard case .failure = await run.send(patience: .seconds(5)) else {
                Issue.record("there is no connection to send anything on")
                return
            }
            #expect(try await run.count("requests") == 0)
        }
    }

    @Test(arguments: ["tlsWrongName", "tlsExpired", "tlsUntrusted"])
    func aWrongCertificateIsRefusedAndTheNextOneIsNot(fault: String) async throws {
        try await withCourier("\(fault) next=1") { (run) async throws in
            guard case .failure(let error) = await run.send() else {
                Issue.record("the certificate is wrong")
                return
            }
            #expect(error.kind == .insecure)
            #expect(!error.mayHaveBeenProcessed)
            #expect(try await run.taken() == 0)
            #expect(await run.send(version: .http1).summary == "200 taken 5")
        }
    }

    @Test func aFaultCanBeForOneConnection() async throws {
        try await withCourier("strike connection=2") { (run) async throws in
            #expect(await run.send(version: .http1).summary == "200 taken 5")
            #expect(await run.send(version: .http2).summary == "503 strike")
            #expect(await run.send(version: .http1).summary == "200 taken 5")
        }
    }

    @Test func connectionsAndRequestsAreCounted() async throws {
        try await withCourier("slow delay=1000") { (run) async throws in
            #expect(await burst(run, 5) == ["200 taken 5": 5])
            #expect(try await run.count("connections") >= 1)
            #expect(try await run.count("requests.atOnce") >= 2)
            #expect(try await run.count("requests.atOnce") <= 5)
        }
    }

    /// Judges take `faults.reset` times `requests.atOnce` for the most pushes that resets can make come again.
    @Test func aResetLosesNoMoreAnswersThanRequestsWereOpenAtOnce() async throws {
        try await withCourier("reset skip=10 next=1") { (run) async throws in
            #expect(await run.send("first").summary == "200 taken 5")
            let origin = run.simulator.origins[Courier.platform] ?? run.simulator.origin
            var batch = RequestBatch(
                .init(
                    origin: origin,
                    settings: TransportSettings(
                        version: .http2, trustedCertificatesPEM: run.simulator.caCertificatePEM),
                    pathPrefix: "/parcels/", body: Array("hello".utf8)))
            // All in one write of the client, so that the service judges the ones before the reset in one turn.
            for number in 0..<20 { batch.append(path: "h\(number)".utf8) }
            let failed = Mutex<[Int]>([])
            await run.client.send(batch, before: run.deadline) { portion in
                for answer in portion.answers {
                    if case .failure = answer.result { failed.withLock { $0.append(answer.index) } }
                }
            }
            var lost = 0
            for index in failed.withLock(\.self) { lost += try await run.taken("h\(index)") }
            #expect(lost > 0)
            #expect(lost <= (try await run.count("requests.atOnce")))
        }
    }
}
