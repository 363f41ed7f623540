import MartletHTTP
import MartletModel
import MartletTesting
import Synchronization
import Testing

@testable import MartletCore

/// What parts could break, each with a test of its name.
struct PartTests {
    private let pigeon = CarrierPigeon.platform

    /// A notification in two parts by tags, the second an hour after the first.
    private func acceptByZones(_ flight: Flight, lifetime: Duration = .seconds(86_400)) async throws -> Notification {
        let now = flight.time.now
        var draft = NotificationDraft(
            id: NotificationID(at: now), hub: flight.hub, content: .native(pigeon, Message(body: [1])),
            target: .audience(.tag(try Tag("all"))), acceptedAt: now, expiresAt: now + lifetime)
        draft.dueAt = now
        draft.laterParts = try ["east", "west"].enumerated().map { index, zone in
            WaitingPart(
                number: Int64(index), dueAt: now + .seconds(3600 * index), narrowing: .tag(try Tag(zone)),
                expiresAt: draft.expiresAt)
        }
        guard case .accepted(let notification, let deliveries) = try await flight.storage.accept(draft) else {
            throw StorageError(.closed, "not accepted")
        }
        #expect(deliveries.isEmpty)
        return notification
    }

    /// Begins what is due, and runs it as far as it comes.
    private func goOn(_ flight: Flight) async throws -> [DeliveryRun.Ending] {
        _ = try await flight.storage.release(due: flight.time.now, limit: 100)
        _ = try await flight.storage.release(due: flight.time.now, limit: 100)
        var endings: [DeliveryRun.Ending] = []
        for progress in try await flight.storage.unfinished(after: .none, limit: 100) {
            endings.append(try await flight.run(progress.delivery))
        }
        return endings
    }

    private func status(_ notification: Notification, _ flight: Flight) async throws -> SendStatus {
        try #require(try await flight.storage.status(notification.id, in: flight.hub))
    }

    @Test func aNotificationDoesNotSupersedeItself() async throws {
        let flight = try await Flight(pageSize: 5)
        try await flight.register(30)
        let canary = try await Canary(flight, Rollout(nil, sample: .size(10)), collapse: "k")
        try await canary.runAll()
        _ = try await canary.apply(.resume)
        _ = try await canary.release()
        try await canary.runAll()
        #expect(try await canary.status().report.counts[pigeon] == [.success: 30])
    }

    @Test func aLaterNotificationSupersedesEachPart() async throws {
        let flight = try await Flight(pageSize: 5)
        try await flight.register(30)
        let canary = try await Canary(flight, Rollout(nil, sample: .size(10)), collapse: "k")
        try await canary.runAll()
        let newer = try await Canary(flight, Rollout(.rate(1000)), collapse: "k")
        _ = try await canary.apply(.resume)
        _ = try await canary.release()
        try await canary.runAll()
        #expect(try await canary.status().report.counts[pigeon] == [.success: 10, .superseded: 20])
        #expect(try await newer.status().report.counts[pigeon] == [.success: 30])
    }

    @Test func countsOfPartsAreAdded() async throws {
        let flight = try await Flight(pageSize: 5) { loft, _ in answered(loft.hasSuffix("5") ? 400 : 200) }
        try await flight.register(40)
        let canary = try await Canary(flight, Rollout(nil, sample: .size(15)))
        try await canary.runAll()
        let half = try await Funnels(store: flight.storage).funnel(of: canary.notification.id, in: flight.hub)
        #expect(half?.platforms[pigeon]?.targeted == nil, "the rest is not counted yet")
        #expect(half?.total.targeted == 40)
        _ = try await canary.apply(.resume)
        _ = try await canary.release()
        try await canary.runAll()
        let report = try await canary.status().report
        #expect(report.platforms == [pigeon])
        #expect(report.counts[pigeon]?.values.reduce(0, +) == 40)
        #expect(report.counts[pigeon]?[.success] == 36)
        let funnel = try await Funnels(store: flight.storage).funnel(of: canary.notification.id, in: flight.hub)
        #expect(funnel?.platforms[pigeon]?.targeted == 40)
        #expect(funnel?.platforms[pigeon]?.rendered == 40)
        #expect(funnel?.platforms[pigeon]?.accepted == 36)
    }

    @Test(arguments: [
        ([NotificationState.completed, .abandoned], NotificationState.abandoned),
        ([.abandoned, .completed], .abandoned),
        ([.completed, .canceled], .canceled), ([.noTargetFound, .completed], .completed),
        ([.noTargetFound, .noTargetFound], .noTargetFound), ([.completed, .processing], .processing),
    ])
    func aPlatformIsOnlyCompletedWithAllOfItsParts(parts: [NotificationState], expected: NotificationState) async throws
    {
        let notification = try await acceptByZones(try await Flight())
        func report(_ deliveries: [(PlatformID, NotificationState)]) -> NotificationReport {
            NotificationReport(
                notification, begunAt: notification.acceptedAt,
                deliveries.map { platform, state in
                    DeliveryReport(platform: platform, state: state, startedAt: nil, endedAt: nil, counts: [:])
                })
        }
        #expect(report(parts.map { (pigeon, $0) }).state == expected)
        guard expected.isFinal else { return }
        let both = report([(PlatformID(rawValue: "dove"), .completed)] + parts.map { (pigeon, $0) })
        #expect(both.state == .completed, "it was completed on one platform")
    }

    @Test func itIsNotOverWhileAPartWaits() async throws {
        let flight = try await Flight()
        for (number, zone) in ["east", "west", "west"].enumerated() {
            try await flight.register("loft\(number)", id: "r\(number)", tags: ["all", zone])
        }
        let notification = try await acceptByZones(flight)
        #expect(try await goOn(flight) == [.finished])
        let waiting = try await status(notification, flight)
        #expect(waiting.report.state == .processing)
        #expect(waiting.waitingParts == 1)
        #expect(try await !flight.storage.hasEnded(notification.sequence))
        #expect(try await flight.storage.nextDue() == flight.time.now + .seconds(3600))
        flight.time.advance(by: .seconds(3600))
        #expect(try await goOn(flight) == [.finished])
        #expect(try await status(notification, flight).report.state == .completed)
        #expect(try await status(notification, flight).report.counts[pigeon] == [.success: 3])
        #expect(try await flight.storage.hasEnded(notification.sequence))
    }

    @Test func progressFromBeforeACrashCountsInItsOwnPart() async throws {
        let flight = try await Flight(pageSize: 50)
        try await flight.register(40)
        let canary = try await Canary(flight, Rollout(nil, sample: .size(10)))
        try await canary.runAll()
        _ = try await canary.apply(.resume)
        _ = try await canary.release()
        let rest = try await flight.storage.unfinished(after: .none, limit: 1)[0].delivery
        let first = Set(flight.transport.lofts)
        // The process was killed after three pushes of the rest, before their page was recorded.
        let reached = (1...40).filter { !first.contains("loft\($0)") }.prefix(3)
        let map = try flight.maps.map(for: rest.id, through: rest.lastNumber)
        for number in reached {
            let past = try await flight.storage.past(of: "r\(number)", in: flight.hub)
            map.insert(AudienceMember(channel: past.versions[0].channel))
        }
        try await canary.runAll()
        #expect(flight.transport.lofts.count == 37)
        #expect(try await canary.status().report.counts[pigeon] == [.success: 40])
        #expect(try await canary.status().sample?.succeeded == 10)
    }

    @Test func aDeviceThatMovesDoesNotGetItTwice() async throws {
        let flight = try await Flight(pageSize: 2) { loft, attempt in
            switch loft {
            case "bad": answered(400)
            case "slow": answered(attempt == 1 ? 429 : 200)
            default: answered(200)
            }
        }
        for loft in ["good", "bad", "slow"] { try await flight.register(loft, id: loft, tags: ["all", "east"]) }
        try await flight.register("stays", id: "stays", tags: ["all", "west"])
        let notification = try await acceptByZones(flight)
        _ = try await goOn(flight)
        for loft in ["good", "bad", "slow"] { try await flight.register(loft, id: loft, tags: ["all", "west"]) }
        flight.time.advance(by: .seconds(3600))
        _ = try await goOn(flight)
        #expect(flight.transport.lofts.sorted() == ["bad", "good", "slow", "slow", "stays"])
        let end = try await status(notification, flight)
        #expect(end.report.state == .completed)
        #expect(end.report.counts[pigeon]?.values.reduce(0, +) == 4)
    }

    @Test func aRetryIsNotSentToADeviceOfTheOtherSide() async throws {
        let flight = try await Flight(pageSize: 50) { _, attempt in answered(attempt == 1 ? 429 : 200) }
        try await flight.register(40)
        let canary = try await Canary(flight, Rollout(nil, sample: .size(10)))
        let sample = try await flight.storage.unfinished(after: .none, limit: 1)[0].delivery
        _ = try await flight.run(sample)
        let first = Set(flight.transport.lofts)
        let mover = try #require((1...40).first { first.contains("loft\($0)") })
        let other = try #require((1...40).first { !first.contains("loft\($0)") })
        // A registration of the sample gets the handle of a device of the rest, which has not had its turn.
        try await flight.register("loft\(other)", id: "r\(mover)")
        flight.time.advance(by: .seconds(60))
        _ = try await flight.run(sample)
        #expect(!flight.transport.lofts.contains("loft\(other)"), "it is left to the rest")
        _ = try await canary.apply(.resume)
        _ = try await canary.release()
        for _ in 0..<20 {
            for progress in try await flight.storage.unfinished(after: .none, limit: 10) {
                _ = try await flight.run(progress.delivery)
            }
            flight.time.advance(by: .seconds(120))
        }
        #expect(flight.transport.lofts.count { $0 == "loft\(other)" } == 2, "one attempt and its retry")
        #expect(try await canary.status().report.state == .completed)
        #expect(try await canary.status().report.counts[pigeon]?[.success] == 39)
    }

    @Test(arguments: [ControlRequest.cancel, nil])
    func waitingPartsAreCountedWhenTheNotificationIsCanceledOrExpires(wish: ControlRequest?) async throws {
        let flight = try await Flight(pageSize: 7)
        try await flight.register(40)
        let canary = try await Canary(flight, Rollout(nil, sample: .size(10)), lifetime: .seconds(7200))
        try await canary.runAll()
        if let wish {
            _ = try await canary.apply(wish)
        } else {
            #expect(try await flight.storage.nextDue() == flight.time.now + .seconds(7200))
            flight.time.advance(by: .seconds(7200))
        }
        #expect(try await canary.release() == 1)
        try await canary.runAll()
        let end = try await canary.status()
        let outcome = wish == nil ? OutcomeName.abandoned : .canceled
        #expect(end.report.counts[pigeon] == [.success: 10, outcome: 30])
        #expect(end.report.state.isFinal)
        #expect(SendNumbers(end).targeted == 40)
        #expect(flight.transport.lofts.count == 10)
        let letters = try await flight.storage.refusals(
            of: canary.notification.id, in: flight.hub, after: .start, limit: 100)
        #expect(letters.records.count == (wish == nil ? 30 : 0))
    }

    @Test func aCanaryCanceledBeforeItsSampleWasFoundIsCountedExactly() async throws {
        let flight = try await Flight(pageSize: 7)
        try await flight.register(40)
        let canary = try await Canary(flight, Rollout(nil, sample: .size(10)))
        _ = try await canary.apply(.cancel)
        _ = try await canary.release()
        try await canary.runAll()
        #expect(try await canary.status().report.counts[pigeon] == [.canceled: 40])
        #expect(try await canary.status().report.state == .canceled)
    }

    @Test func aRetryUsesTheExpressionOfTheNotificationAndNotOfItsPart() async throws {
        let flight = try await Flight { _, attempt in answered(attempt == 1 ? 429 : 200) }
        try await flight.register("mover", id: "mover", tags: ["all", "east"])
        try await flight.register("leaver", id: "leaver", tags: ["all", "east"])
        let notification = try await acceptByZones(flight)
        _ = try await goOn(flight)
        try await flight.register("mover", id: "mover", tags: ["all", "north"])
        try await flight.register("leaver", id: "leaver", tags: ["east"])
        flight.time.advance(by: .seconds(60))
        _ = try await goOn(flight)
        #expect(flight.transport.lofts.sorted() == ["leaver", "mover", "mover"])
        #expect(try await status(notification, flight).report.counts[pigeon]?[.success] == 1)
    }

    @Test func deadLettersOfAllPartsAreResent() async throws {
        let isBad = Flag(true)
        let flight = try await Flight(pageSize: 3) { _, _ in isBad.isOn ? answered(400) : answered(200) }
        try await flight.register(20)
        let canary = try await Canary(flight, Rollout(nil, sample: .size(6)))
        try await canary.runAll()
        _ = try await canary.apply(.resume)
        _ = try await canary.release()
        try await canary.runAll()
        isBad.isOn = false
        let before = flight.transport.lofts.count
        let draft = ResendDraft(
            id: NotificationID(at: flight.time.now), hub: flight.hub, original: canary.notification.id, outcome: nil,
            acceptedAt: flight.time.now, expiresAt: flight.time.now + .seconds(3600))
        guard case .accepted(let resend, let deliveries) = try await flight.storage.resend(draft) else {
            Issue.record("not accepted")
            return
        }
        #expect(deliveries.map(\.part) == [nil], "a resend has no canary")
        try await canary.runAll()
        #expect(Set(flight.transport.lofts.dropFirst(before)) == Set((1...20).map { "loft\($0)" }))
        #expect(try await status(resend, flight).report.counts[pigeon] == [.success: 20])
    }
}
