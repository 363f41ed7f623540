import MartletHTTP
import MartletModel
import MartletTesting
import Synchronization
import Testing

@testable import MartletCore

/// What a delivery has reached, when another node goes on with it or is asked about it. The nodes share the storage, and
/// each has progress maps of its own.
@Suite(.timeLimit(.minutes(10)))
struct SharedProgressTests {
    private func flight(
        _ answer: @escaping ScriptedTransport.Answer = { _, _ in .success(HTTPResponse(.ok)) }
    ) async throws -> Flight {
        try await Flight(isShared: true, answer)
    }

    /// The next node, which has only the storage.
    private func next(_ flight: Flight, _ storage: MemoryStorage? = nil) async throws -> Flight {
        try await Flight(flight, restartedWith: storage, maps: MemoryProgressMaps())
    }

    private func trace(_ device: String, _ delivery: Delivery, at flight: Flight) async throws -> TraceVerdict? {
        let traces = Traces(
            store: flight.storage, maps: flight.maps, platforms: flight.platforms, messageIDs: MessageIDKey(1, 2))
        return try await traces.trace(delivery.notification.id, of: device, in: flight.hub)?.verdict
    }

    /// Sends the first page of a delivery, and no other.
    private func sendFirstPage(_ flight: Flight) async throws -> Delivery {
        try await flight.register(7)
        let delivery = try await flight.accept()
        var run = DeliveryRun(DeliveryProgress(delivery))
        #expect(await flight.deliverer.run(&run) == .yielded)
        #expect(flight.transport.lofts == ["loft1", "loft2", "loft3"])
        return delivery
    }

    @Test func aRetryDoesNotGoToADeviceThatTheFormerOwnerReached() async throws {
        let flight = try await flight { loft, attempt in answered(loft == "loft1" && attempt == 1 ? 429 : 200) }
        try await flight.register(2)
        let delivery = try await flight.accept()
        guard case .waiting = try await flight.run(delivery) else {
            Issue.record("loft1 is to be tried again")
            return
        }
        _ = try await flight.registry.delete("r2", in: flight.hub)
        try await flight.register("loft2", id: "r1")
        let next = try await next(flight)
        next.time.advance(by: .seconds(7200))
        #expect(try await next.run(delivery) == .finished)
        #expect(next.transport.lofts == ["loft1", "loft2"])
        #expect(try await next.report(delivery).counts == [.success: 1, .skipped: 1])
        #expect(try await trace("r2", delivery, at: next) == .delivered)
        #expect(next.maps.count == 0)
        #expect(next.deliverer.sharedProgress.count == 0)
    }

    @Test func aNodeThatDoesNotSendKnowsWhatWasDelivered() async throws {
        let flight = try await flight()
        let delivery = try await sendFirstPage(flight)
        let other = try await next(flight)
        #expect(try await trace("r3", delivery, at: other) == .delivered)
        #expect(try await trace("r4", delivery, at: other) == .pending)
    }

    @Test func whatTheFormerOwnerDeliveredStaysDeliveredWhenTheNextCancels() async throws {
        let flight = try await flight()
        let delivery = try await sendFirstPage(flight)
        let next = try await next(flight)
        _ = try await next.controls.apply(.cancel, to: delivery.notification.id, in: next.hub)
        #expect(try await next.run(delivery) == .finished)
        #expect(try await next.report(delivery).counts == [.success: 3, .canceled: 4])
        #expect(try await trace("r3", delivery, at: next) == .delivered)
        #expect(try await trace("r4", delivery, at: next) == .canceled)
    }

    @Test func whatTheFormerOwnerDeliveredStaysDeliveredWhenTheNextSendsTheRest() async throws {
        let flight = try await flight()
        let delivery = try await sendFirstPage(flight)
        let next = try await next(flight)
        #expect(try await next.run(delivery) == .finished)
        #expect(next.transport.lofts == (1...7).map { "loft\($0)" })
        for number in 1...7 { #expect(try await trace("r\(number)", delivery, at: next) == .delivered) }
    }

    /// Sends a page of three devices of which the last does not answer, and kills the node more than a second later.
    /// - Returns: What is left in the storage.
    private func killAmidPage(_ flight: Flight) async throws -> (Delivery, MemoryStorage) {
        try await flight.register(3)
        let delivery = try await flight.accept()
        let left = Mutex<MemoryStorage?>(nil)
        let (storage, time) = (flight.storage, flight.time)
        flight.transport.holdBack("loft3") {
            await time.untilSleeping()
            time.advance(by: .seconds(1))
            while (try? await storage.reached(by: delivery.id).isEmpty) ?? true { await Task.yield() }
            left.withLock { $0 = storage.copy() }
        }
        #expect(try await flight.run(delivery) == .finished)
        let copy = left.withLock { $0 }
        return (delivery, try #require(copy))
    }

    @Test func whatAPageHasReachedInASecondIsNotSentToAgainByTheNextOwner() async throws {
        let flight = try await flight()
        let (delivery, left) = try await killAmidPage(flight)
        let next = try await next(flight, left)
        #expect(try await trace("r2", delivery, at: next) == .delivered)
        #expect(try await next.run(delivery) == .finished)
        #expect(next.transport.lofts == ["loft1", "loft2", "loft3", "loft3"])
        #expect(try await next.report(delivery).counts == [.success: 3])
        for number in 1...3 { #expect(try await trace("r\(number)", delivery, at: next) == .delivered) }
    }

    @Test func aDeviceThatIsGoneSinceThePageBeganWasReachedAllTheSame() async throws {
        let flight = try await flight()
        let (delivery, left) = try await killAmidPage(flight)
        let next = try await next(flight, left)
        _ = try await next.registry.delete("r1", in: next.hub)
        #expect(try await next.run(delivery) == .finished)
        #expect(try await next.storage.reached(by: delivery.id) == DeliveredBitmap.blocks(of: [1, 2, 3]))
    }

    @Test func whatAPageHasReachedInASecondCountsAsDeliveredWhenTheNextOwnerCancels() async throws {
        let flight = try await flight()
        let (delivery, left) = try await killAmidPage(flight)
        let next = try await next(flight, left)
        _ = try await next.controls.apply(.cancel, to: delivery.notification.id, in: next.hub)
        #expect(try await next.run(delivery) == .finished)
        #expect(try await next.report(delivery).counts == [.success: 2, .canceled: 1])
        #expect(try await trace("r1", delivery, at: next) == .delivered)
        #expect(try await trace("r3", delivery, at: next) == .canceled)
    }

    @Test func aStorageOfOneProcessKeepsNothingBeforeTheEnd() async throws {
        let flight = try await Flight()
        let delivery = try await sendFirstPage(flight)
        #expect(try await flight.storage.reached(by: delivery.id).isEmpty)
        #expect(flight.deliverer.sharedProgress.count == 0)
    }
}
