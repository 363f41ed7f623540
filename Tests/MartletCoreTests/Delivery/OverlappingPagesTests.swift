import MartletHTTP
import MartletModel
import MartletTesting
import Synchronization
import Testing

@testable import MartletCore

/// Pages of one delivery that are sent at the same time.
struct OverlappingPagesTests {
    /// Where a delivery is on disk.
    private func cursor(_ flight: Flight, _ delivery: Delivery) async throws -> AudienceMember? {
        let before = Delivery.ID(rawValue: delivery.id.rawValue - 1)
        return try await flight.storage.unfinished(after: before, limit: 1).first?.cursor
    }

    private func waitFor(_ condition: () -> Bool) async {
        while !condition() { await Task.yield() }
    }

    @Test(.timeLimit(.minutes(10)))
    func whileOnePageWaitsTheNextAreSentAndTheCursorStaysBeforeIt() async throws {
        let flight = try await Flight(pagesAtOnce: 4)
        try await flight.register(3 + 5 * 3)
        let delivery = try await flight.accept()
        var begun = DeliveryRun(DeliveryProgress(delivery))
        #expect(await flight.deliverer.run(&begun) == .yielded)
        let behindFirst = try await cursor(flight, delivery)
        let isAnswered = Mutex(false)
        flight.transport.interrupt(at: "loft4") { await waitFor { isAnswered.withLock { $0 } } }
        async let ending = run(flight, begun)
        // The page that waits counts as none yet.
        await waitFor { flight.transport.batchCount == 4 }
        #expect(try await cursor(flight, delivery) == behindFirst)
        isAnswered.withLock { $0 = true }
        #expect(await ending == .finished)
        #expect(flight.transport.lofts.sorted() == (1...18).map { "loft\($0)" }.sorted())
        #expect(try await flight.report(delivery).counts == [.success: 18])
    }

    @Test(.timeLimit(.minutes(10))) func oneDeviceOfTheFirstPageThatDoesNotAnswerHoldsUpNoOther() async throws {
        let flight = try await Flight(pagesAtOnce: 4)
        try await flight.register(3 + 3 * 2)
        let delivery = try await flight.accept()
        let isAnswered = Mutex(false)
        flight.transport.holdBack("loft2") { await waitFor { isAnswered.withLock { $0 } } }
        async let ending = run(flight, DeliveryRun(DeliveryProgress(delivery)))
        await waitFor { flight.transport.sent.count == 2 }
        await flight.time.untilSleeping()
        #expect(flight.transport.batchCount == 1, "the first page has a moment for itself")
        flight.time.advance(by: .seconds(1))
        await waitFor { flight.transport.sent.count == 8 }
        #expect(try await cursor(flight, delivery) == AudienceMember.none)
        isAnswered.withLock { $0 = true }
        #expect(await ending == .finished)
        #expect(flight.transport.lofts.sorted() == (1...9).map { "loft\($0)" }.sorted())
        #expect(try await flight.report(delivery).counts == [.success: 9])
    }

    @Test(.timeLimit(.minutes(10))) func aServiceThatAnswersNothingGetsOnlyTheFirstPage() async throws {
        let flight = try await Flight(pagesAtOnce: 4)
        try await flight.register(9)
        let delivery = try await flight.accept()
        let isAnswered = Mutex(false)
        flight.transport.interrupt { await waitFor { isAnswered.withLock { $0 } } }
        async let ending = run(flight, DeliveryRun(DeliveryProgress(delivery)))
        for _ in 0..<5 {
            await flight.time.untilSleeping()
            flight.time.advance(by: .seconds(1))
        }
        await flight.time.untilSleeping()
        #expect(flight.transport.batchCount == 0)
        isAnswered.withLock { $0 = true }
        #expect(await ending == .finished)
        #expect(try await flight.report(delivery).counts == [.success: 9])
    }

    private func run(_ flight: Flight, _ start: DeliveryRun) async -> DeliveryRun.Ending {
        var run = start
        while true {
            let ending = await flight.deliverer.run(&run)
            if ending != .yielded { return ending }
        }
    }

    @Test(arguments: [2, 4, 100]) func whatHappensToEachDeviceIsTheSame(_ pagesAtOnce: Int) async throws {
        let flight = try await Flight(pagesAtOnce: pagesAtOnce) { loft, attempt in
            switch Int(loft.dropFirst(4)) ?? 0 {
            case let number where number % 7 == 0: answered(400)
            case let number where number % 5 == 0 && attempt == 1: answered(429)
            default: answered(200)
            }
        }
        try await flight.register(150)
        let delivery = try await flight.accept()
        guard case .waiting(let until) = try await flight.run(delivery) else {
            Issue.record("some are to be tried again")
            return
        }
        #expect(flight.transport.sent.count == 150)
        flight.time.advance(to: until + .seconds(60))
        #expect(try await flight.run(delivery) == .finished)
        let report = try await flight.report(delivery)
        #expect(report.state == .completed)
        #expect(report.counts[.success] == 150 - 21)
        #expect(report.counts.values.reduce(0, +) == 150)
        #expect(try await flight.refusals(delivery).count == 21)
    }

    @Test func aCancelBetweenPagesSparesAllWhoseTurnHasNotCome() async throws {
        let flight = try await Flight(pagesAtOnce: 4)
        try await flight.register(300)
        let delivery = try await flight.accept()
        let notification = delivery.notification
        let controls = flight.controls
        var begun = DeliveryRun(DeliveryProgress(delivery))
        #expect(await flight.deliverer.run(&begun) == .yielded)
        flight.transport.interrupt {
            _ = try? await controls.apply(.cancel, to: notification.id, in: notification.hub)
        }
        #expect(await run(flight, begun) == .finished)
        let report = try await flight.report(delivery)
        #expect(report.state == .canceled)
        #expect(report.counts[.canceled, default: 0] + report.counts[.success, default: 0] == 300)
        #expect(report.counts[.success] == flight.transport.sent.count)
        #expect(flight.transport.sent.count < 300)
    }

    @Test(
        "As many pages are in hand as are sent in half the time that a request may wait",
        arguments: [
            // Nothing is known yet.
            (ended: 0, milliseconds: 0, limit: 4), (0, 60_000, 4),
            (1, 0, 9), (1, 1000, 9), (3, 5001, 8), (10, 30_000, 5), (1, 7000, 2), (1, 8000, 1), (2, 90_000, 1),
            // The clock was set back.
            (1, -5000, 9),
        ])
    func asManyPagesAreInHandAsAreSentInTime(ended: Int, milliseconds: Int64, limit: Int) {
        let start = Timestamp(milliseconds: 1_000_000)
        let pages = PagesAtOnce(most: 9, requestTimeout: .seconds(30), start: start, before: nil)
        #expect(pages.limit(ended: ended, at: start + .milliseconds(milliseconds)) == limit)
        let one = PagesAtOnce(most: 1, requestTimeout: .seconds(30), start: start, before: nil)
        #expect(one.limit(ended: ended, at: start) == 1)
    }

    @Test func aTurnBeginsWithWhatThePagesOfTheLastHaveTaken() {
        let start = Timestamp(milliseconds: 1_000_000)
        let pages = PagesAtOnce(most: 9, requestTimeout: .seconds(30), start: start, before: .seconds(5))
        #expect(pages.limit(ended: 0, at: start) == 3)
        #expect(pages.limit(ended: 1, at: start + .seconds(1)) == 9)
        #expect(pages.pageTime(ended: 2, at: start + .seconds(30)) == .seconds(15))
    }
}
