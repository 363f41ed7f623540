import MartletHTTP
import MartletModel
import MartletTesting
import Synchronization
import Testing

@testable import MartletCore

/// What holds for services that have a pace, and for platforms that are sent to with another's credential.
struct PaceTests {
    private func flight(
        _ lofts: Int, pace: Int, pageSize: Int = 1000, pagesAtOnce: Int = 1,
        _ answer: @escaping ScriptedTransport.Answer = { _, _ in .success(HTTPResponse(.ok)) }
    ) async throws -> Flight {
        let flight = try await Flight(
            pageSize: pageSize, pagesAtOnce: pagesAtOnce, hasCredential: false, answer)
        try await flight.hubs.setCredential(
            Credential(["Whistle": "tweet", "Route": "\(pace)"]), for: CarrierPigeon.platform, of: "aviary")
        for number in 0..<lofts {
            _ = try await flight.registry.put(
                "r\(number)", in: flight.hub, platform: PacedPigeon.descriptor.platform,
                handle: PushHandle("loft\(number)"), tags: [])
        }
        return flight
    }

    @Test func aPageGoesAsFastAsThePaceAllows() async throws {
        let flight = try await flight(30, pace: 6000)
        let delivery = try await flight.accept(on: PacedPigeon.descriptor.platform)
        async let ending = flight.run(delivery)
        for sent in [18, 29] {
            await waitFor { flight.transport.sent.count >= sent }
            await flight.time.untilSleeping()
            #expect(flight.transport.sent.count == sent, "a tenth of the pace, and a second's worth ahead")
            flight.time.advance(by: .seconds(1))
        }
        #expect(try await ending == .finished)
        #expect(Set(flight.transport.lofts).count == 30)
        #expect(try await flight.report(delivery).counts == [.success: 30])
    }

    private func waitFor(_ condition: () -> Bool) async {
        while !condition() { await Task.yield() }
    }

    /// Moves the clock by seconds until a condition holds, or until it has moved far.
    private func advance(_ flight: Flight, until condition: () -> Bool) async -> Duration {
        let start = flight.time.now
        for _ in 0..<100 where !condition() {
            flight.time.advance(by: .seconds(1))
            for _ in 0..<1000 where !condition() { await Task.yield() }
        }
        return flight.time.now - start
    }

    @Test(.timeLimit(.minutes(10))) func aDeviceThatDoesNotAnswerHoldsUpNoFurtherPage() async throws {
        let flight = try await flight(9, pace: 600_000, pageSize: 3, pagesAtOnce: 4)
        let delivery = try await flight.accept(on: PacedPigeon.descriptor.platform)
        let isAnswered = Mutex(false)
        flight.transport.holdBack("loft1") { await waitFor { isAnswered.withLock { $0 } } }
        async let ending = flight.run(delivery)
        await waitFor { flight.transport.sent.count == 2 }
        #expect(flight.transport.batchCount == 1, "the first page has a moment for itself")
        _ = await advance(flight) { flight.transport.sent.count == 8 }
        #expect(flight.transport.sent.count == 8)
        isAnswered.withLock { $0 = true }
        #expect(try await ending == .finished)
        #expect(flight.transport.lofts.sorted() == (0..<9).map { "loft\($0)" })
        #expect(try await flight.report(delivery).counts == [.success: 9])
    }

    @Test(.timeLimit(.minutes(10))) func aServiceThatAnswersNothingGetsOnlyTheFirstPage() async throws {
        let flight = try await flight(9, pace: 600_000, pageSize: 3, pagesAtOnce: 4)
        let delivery = try await flight.accept(on: PacedPigeon.descriptor.platform)
        let isSent = Mutex(false)
        let isAnswered = Mutex(false)
        flight.transport.interrupt {
            isSent.withLock { $0 = true }
            await waitFor { isAnswered.withLock { $0 } }
        }
        async let ending = flight.run(delivery)
        await waitFor { isSent.withLock { $0 } }
        for _ in 0..<5 {
            await flight.time.untilSleeping()
            flight.time.advance(by: .seconds(1))
        }
        await flight.time.untilSleeping()
        #expect(flight.transport.batchCount == 0)
        isAnswered.withLock { $0 = true }
        #expect(try await ending == .finished)
        #expect(try await flight.report(delivery).counts == [.success: 9])
    }

    @Test(.timeLimit(.minutes(10))) func aDeviceThatDoesNotAnswerHoldsUpNoOtherOfItsPage() async throws {
        let flight = try await flight(45, pace: 6000)
        let delivery = try await flight.accept(on: PacedPigeon.descriptor.platform)
        let isAnswered = Mutex(false)
        flight.transport.holdBack("loft0") { await waitFor { isAnswered.withLock { $0 } } }
        async let ending = flight.run(delivery)
        await waitFor { flight.transport.sent.count == 8 }
        var sent = 8
        let time = await advance(flight) {
            sent = flight.transport.sent.count
            return sent == 44
        }
        #expect(sent == 44)
        #expect(time >= .seconds(2), "no more than the rate: 9 each second at first, and a second's worth ahead")
        isAnswered.withLock { $0 = true }
        #expect(try await ending == .finished)
        #expect(try await flight.report(delivery).counts == [.success: 45])
    }

    @Test(.timeLimit(.minutes(10))) func whileAPageWaitsForTheRateNoOtherIsBegun() async throws {
        let flight = try await flight(200, pace: 600, pageSize: 100, pagesAtOnce: 4)
        let delivery = try await flight.accept(on: PacedPigeon.descriptor.platform)
        async let ending = flight.run(delivery)
        let extraPages = flight.deliverer.extraPages
        var most = 0
        _ = await advance(flight) {
            most = max(most, extraPages.taken)
            return flight.transport.sent.count >= 40
        }
        #expect(most == 0, "although most of the first 50 were reached")
        _ = await advance(flight) { flight.transport.sent.count == 200 }
        #expect(try await ending == .finished)
    }

    @Test func whatTheServiceAsksForHoldsForWhatIsStillToBeSent() async throws {
        let flight = try await flight(300, pace: 60_000) { _, attempt in
            attempt == 1 ? .success(HTTPResponse(503, fields: ["retry-after": "30"])) : .success(HTTPResponse(.ok))
        }
        let delivery = try await flight.accept(on: PacedPigeon.descriptor.platform)
        guard case .paused(_, let until) = try await flight.run(delivery) else {
            Issue.record("the service asked for a pause")
            return
        }
        #expect(until >= flight.time.now + .seconds(30))
        #expect(flight.transport.sent.count < 300, "the rest of the page was not sent")
    }

    @Test func aPlatformWithoutACredentialOfItsOwnIsSentToWithAnothers() async throws {
        let flight = try await flight(1, pace: 600_000)
        let delivery = try await flight.accept(on: PacedPigeon.descriptor.platform)
        #expect(try await flight.run(delivery) == .finished)
        #expect(flight.transport.sent.map(\.authorization) == ["whistle tweet-1700000000"])
        try await flight.hubs.setCredential(
            Credential(["Anything": "else"]), for: PacedPigeon.descriptor.platform, of: "aviary")
        let second = try await flight.accept(on: PacedPigeon.descriptor.platform)
        #expect(try await flight.run(second) == .finished)
    }
}
