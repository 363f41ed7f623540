import MartletHTTP
import MartletModel
import MartletTesting
import Testing

@testable import MartletCore

struct RolloutTests {
    /// Runs a delivery until it is over, at the moments that it asks for: how many were sent by when.
    private func run(
        _ flight: Flight, _ delivery: Delivery, limit: Int = 1000
    ) async throws -> [(seconds: Double, sent: Int)] {
        let start = flight.time.now
        var found: [(Double, Int)] = []
        for _ in 0..<limit {
            let ending = try await flight.run(delivery)
            found.append(((flight.time.now - start) / .seconds(1), flight.transport.sent.count))
            guard case .waiting(let until) = ending else { return found }
            flight.time.advance(to: until)
        }
        Issue.record("it did not end")
        return found
    }

    private func accept(
        _ flight: Flight, _ rollout: Rollout, lifetime: Duration = .seconds(86_400)
    ) async throws -> Delivery {
        var draft = NotificationDraft(
            id: NotificationID(at: flight.time.now), hub: flight.hub,
            content: .native(CarrierPigeon.platform, Message(body: [1])), target: .audience(nil),
            acceptedAt: flight.time.now, expiresAt: flight.time.now + lifetime)
        draft.rollout = rollout
        guard case .accepted(_, let deliveries) = try await flight.storage.accept(draft) else {
            throw StorageError(.closed, "not accepted")
        }
        return deliveries[0]
    }

    @Test func theRateIsKeptAndNoSlotIsOccupiedWhileWaiting() async throws {
        let flight = try await Flight(pageSize: 1000)
        try await flight.register(100)
        let found = try await run(flight, try await accept(flight, Rollout(.rate(20))))
        #expect(flight.transport.sent.count == 100)
        #expect(Set(flight.transport.lofts).count == 100)
        for (seconds, sent) in found { #expect(Double(sent) <= seconds * 20 + 5) }
        #expect((4.0...6.0).contains(found.last?.seconds ?? 0))
        #expect(flight.board.count == 0)
    }

    @Test func aTimeIsSpreadOverByTheAudienceAtItsStart() async throws {
        let flight = try await Flight(pageSize: 1000)
        try await flight.register(60)
        let delivery = try await accept(flight, Rollout(.over(.seconds(600))))
        let found = try await run(flight, delivery)
        #expect(Set(flight.transport.lofts).count == 60)
        #expect((580.0...601.0).contains(found.last?.seconds ?? 0))
        let status = try await flight.storage.status(delivery.notification.id, in: flight.hub)
        #expect(status?.audience == 60)
    }

    @Test func aRestartNeitherHurriesNorStallsIt() async throws {
        let flight = try await Flight(pageSize: 1000)
        try await flight.register(100)
        let delivery = try await accept(flight, Rollout(.over(.seconds(100))))
        let start = flight.time.now
        var starts = 0
        while !(try await flight.report(delivery).state.isFinal), starts < 400 {
            starts += 1
            // What the process had in memory of it is gone.
            flight.board.stopMeter(of: delivery.notification.sequence)
            guard case .waiting(let until) = try await flight.run(delivery) else { break }
            let seconds = Int(until.seconds - delivery.notification.acceptedAt.seconds)
            #expect(flight.transport.sent.count <= seconds + 1)
            flight.time.advance(to: until)
        }
        #expect(flight.transport.sent.count == 100)
        #expect((flight.time.now - start) / .seconds(1) < 101)
    }

    @Test("Restarts every hour send nothing earlier of a roll-out of few devices over 28 days")
    func restartsDoNotHurryASlowRollOut() async throws {
        let flight = try await Flight(pageSize: 1000)
        try await flight.register(4)
        let days = 28
        let time = Duration.seconds(days * 86_400)
        let delivery = try await accept(flight, Rollout(.over(time)), lifetime: time)
        var sentOn: [Int] = []
        for hour in 0..<(days * 24) where sentOn.count < 4 {
            flight.board.stopMeter(of: delivery.notification.sequence)
            _ = try await flight.run(delivery)
            while sentOn.count < flight.transport.sent.count { sentOn.append(hour / 24) }
            flight.time.advance(by: .seconds(3600))
        }
        #expect(sentOn == [0, 7, 14, 21])
    }

    @Test(
        "Restarts every hour do not stop a slow roll-out after the clock was set",
        arguments: [(-10, [24, 48, 72]), (10, [0, 24, 48])])
    func restartsDoNotStopASlowRollOut(days: Int, expected: [Int]) async throws {
        let flight = try await Flight(pageSize: 1000)
        try await flight.register(4)
        let delivery = try await accept(
            flight, Rollout(.over(.seconds(4 * 86_400))), lifetime: .seconds(40 * 86_400))
        _ = try await flight.run(delivery)
        #expect(flight.transport.sent.count == 1)
        flight.time.advance(by: .seconds(days * 86_400))
        var sentAt: [Int] = []
        for hour in 0...96 where sentAt.count < 3 {
            flight.board.stopMeter(of: delivery.notification.sequence)
            _ = try await flight.run(delivery)
            while sentAt.count + 1 < flight.transport.sent.count { sentAt.append(hour) }
            flight.time.advance(by: .seconds(3600))
        }
        #expect(sentAt == expected)
    }

    /// A day back, and two hours forward.
    @Test(.timeLimit(.minutes(10)), arguments: [-86_400, 7200], [false, true])
    func aRollOutGoesOnAtItsRateWhereTheClockIsSet(seconds: Int, withARestart: Bool) async throws {
        let tower = try await Tower(devices: 20)
        let id = try await tower.accept("a", rollout: Rollout(.over(.seconds(40))))
        await tower.until {
            tower.transport.answer(100)
            // Read before the load: a push that is drawn after it may still be in flight.
            let drawn = tower.drawn.count
            let load = tower.dispatcher.load
            if drawn < 4, load.running == 0, load.waiting == 0, let wake = tower.time.nextWake {
                tower.time.advance(to: max(wake, tower.time.now))
            }
            return drawn == 4 && load.running == 0 && load.sleeping == 1
        }
        if withARestart { await tower.kill() }
        let step = tower.time.now + .seconds(seconds)
        tower.time.advance(to: step)
        if withARestart { try await tower.start() }
        try await tower.finish(id)
        #expect(Set(tower.drawn.map(\.loft)).count == 20)
        #expect(tower.drawn.count == 20)
        #expect((28...36).contains((tower.time.now - step) / .seconds(1)))
        await tower.stop()
    }

    @Test func tooManyFailuresHaltItUntilItIsResumed() async throws {
        let isBad = Flag(true)
        let flight = try await Flight(pageSize: 1000) { _, _ in isBad.isOn ? answered(400) : answered(200) }
        try await flight.register(100)
        let halt = Rollout.Halt(share: 1000, answers: 10)
        let delivery = try await accept(flight, Rollout(.rate(20), halt: halt))
        let id = delivery.notification.id
        var ending = DeliveryRun.Ending.yielded
        while true {
            ending = try await flight.run(delivery)
            guard case .waiting(let until) = ending else { break }
            flight.time.advance(to: until)
        }
        #expect(ending == .held(until: delivery.notification.expiresAt))
        #expect(flight.transport.sent.count == 10)
        #expect(flight.alarms.all.count == 1)
        #expect(flight.alarms.all[0].contains("10 of 10 pushes failed"))
        #expect(try await flight.storage.status(id, in: flight.hub)?.control == .halted)
        isBad.isOn = false
        _ = try await flight.controls.apply(.resume, to: id, in: flight.hub)
        _ = try await run(flight, delivery)
        let status = try #require(try await flight.storage.status(id, in: flight.hub))
        #expect(status.report.state == .completed)
        #expect(SendNumbers(status).succeeded == 90)
        #expect(SendNumbers(status).failed == 10)
        #expect(flight.alarms.all.count == 1, "what failed before does not count against what comes")
    }

    @Test func aSuccessThatMakesThemEnoughHaltsItToo() async throws {
        let bad = Set((1...5).map { "loft\($0)" })
        let flight = try await Flight(pageSize: 1000) { loft, _ in answered(bad.contains(loft) ? 400 : 200) }
        try await flight.register(30)
        let delivery = try await accept(flight, Rollout(.rate(20), halt: Rollout.Halt(share: 1000, answers: 10)))
        while case .waiting(let until) = try await flight.run(delivery) { flight.time.advance(to: until) }
        #expect(flight.transport.sent.count == 10)
        #expect(flight.alarms.all.count == 1)
        #expect(flight.alarms.all.first?.contains("5 of 10 pushes failed") == true)
    }

    @Test func dueRetriesOfARollOutDoNotWaitForTheLastPage() async throws {
        let flight = try await Flight(pageSize: 1000) { loft, attempt in
            answered(loft == "loft1" && attempt <= 2 ? 429 : 200)
        }
        try await flight.register(100)
        let delivery = try await accept(flight, Rollout(.rate(1)))
        let found = try await run(flight, delivery)
        let attempts = flight.transport.lofts.indices.filter { flight.transport.lofts[$0] == "loft1" }
        #expect(attempts.count == 3)
        #expect(attempts.last.map { $0 < 20 } == true, "it was tried again while others waited for their first")
        for (seconds, sent) in found { #expect(Double(sent) <= seconds + 1) }
        #expect(try await flight.report(delivery).counts == [.success: 100])
        #expect(try await flight.report(delivery).state == .completed)
    }

    @Test func retriesOfASlowRollOutAreSentBeforeItExpires() async throws {
        let flight = try await Flight(pageSize: 1000) { _, attempt in answered(attempt == 1 ? 429 : 200) }
        try await flight.register(50)
        let delivery = try await accept(flight, Rollout(.over(.seconds(86_400))))
        _ = try await run(flight, delivery)
        let counts = try await flight.report(delivery).counts
        #expect((counts[.success] ?? 0) >= 20)
        #expect(counts.values.reduce(0, +) == 50)
    }

    @Test func othersTryAgainBehindTheirLastPage() async throws {
        let flight = try await Flight(pageSize: 2) { loft, attempt in
            answered(loft == "loft1" && attempt == 1 ? 429 : 200)
        }
        try await flight.register(6)
        var run = DeliveryRun(DeliveryProgress(try await flight.accept()))
        while await flight.deliverer.run(&run) == .yielded { flight.time.advance(by: .seconds(5)) }
        #expect(flight.transport.lofts == (1...6).map { "loft\($0)" } + ["loft1"])
    }

    @Test func aTurnWithoutAMeterIsLater() {
        let board = ControlRegistry()
        let now = Timestamp(milliseconds: 0)
        #expect(board.turn(of: 1, for: 5000, at: now) == .later(now))
        board.startMeter(of: 1, in: Hub.ID(rawValue: 1), rate: 4, at: now)
        #expect(board.turn(of: 1, for: 5000, at: now) == .now(1))
    }

    @Test func fewFailuresHaltNothing() async throws {
        let flight = try await Flight(pageSize: 1000) { loft, _ in loft.hasSuffix("0") ? answered(400) : answered(200) }
        try await flight.register(50)
        let delivery = try await accept(
            flight, Rollout(.rate(20), halt: Rollout.Halt(share: 2500, answers: 10)))
        _ = try await run(flight, delivery)
        #expect(try await flight.report(delivery).state == .completed)
        #expect(flight.alarms.all.isEmpty)
    }

    @Test(arguments: [
        (0, 100, 500, 10, false), (5, 95, 500, 10, false), (6, 94, 500, 10, true), (9, 0, 500, 10, false),
    ])
    func aShareIsPassedWhenMoreHaveFailed(failed: Int, succeeded: Int, share: Int, answers: Int, isPassed: Bool) {
        let halt = Rollout.Halt(share: share, answers: answers)
        #expect(halt.isPassed(SendCounts(succeeded: succeeded, failed: failed)) == isPassed)
    }
}
