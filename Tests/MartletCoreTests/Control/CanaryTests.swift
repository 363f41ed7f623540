import MartletHTTP
import MartletModel
import MartletTesting
import Synchronization
import Testing

@testable import MartletCore

struct CanaryTests {
    // MARK: The sample

    @Test func exactlyTheSampleGetsItFirstAndTheRestWaits() async throws {
        let flight = try await Flight(pageSize: 7)
        try await flight.register(200)
        let canary = try await Canary(flight, Rollout(nil, sample: .size(50)))
        try await canary.runAll()
        #expect(flight.transport.lofts.count == 50)
        let status = try await canary.status()
        #expect(status.isHolding)
        #expect(status.sampleSize == 50)
        #expect(status.sample?.succeeded == 50)
        #expect(status.audience == 200)
        #expect(SendNumbers(status).targeted == 200)
        #expect(SendNumbers(status).pending == 150)
        #expect(status.report.state == .processing)
        #expect(try await canary.release() == 0, "it is for somebody to let it go on")

        _ = try await canary.apply(.resume)
        #expect(try await canary.release() == 1)
        try await canary.runAll()
        #expect(flight.transport.lofts.count == 200)
        #expect(Set(flight.transport.lofts).count == 200)
        let end = try await canary.status()
        #expect(end.report.state == .completed)
        #expect(end.report.counts == [CarrierPigeon.platform: [.success: 200]])
        #expect(!end.isHolding)
        #expect(SendNumbers(end).targeted == 200)
    }

    @Test(arguments: 0..<12)
    func aKillChangesNoMemberOfTheSample(seed: Int) async throws {
        var random = SeededGenerator(seed: UInt64(seed))
        var flight = try await Flight(pageSize: 5)
        try await flight.register(90)
        let canary = try await Canary(flight, Rollout(nil, sample: .size(30)))
        var sampled: Set<String> = []
        for round in 0..<100 {
            let open = try await flight.storage.unfinished(after: .none, limit: 10)
            if open.isEmpty {
                let status = try await canary.status()
                guard !status.report.state.isFinal else { break }
                sampled = Set(flight.transport.lofts)
                #expect(sampled.count == 30)
                _ = try await canary.apply(.resume)
                _ = try await canary.release()
                continue
            }
            var run = DeliveryRun(open[0])
            // A device that registers meanwhile is in no sample and in no rest.
            if round == 1 { try await flight.register("late", id: "late") }
            for _ in 0..<Int.random(in: 1...3, using: &random) {
                guard await flight.deliverer.run(&run) == .yielded else { break }
            }
            flight = try await Flight(flight)
        }
        #expect(flight.transport.lofts.count == 90)
        #expect(Set(flight.transport.lofts) == Set((1...90).map { "loft\($0)" }))
    }

    @Test func theFirstStoredThresholdIsKept() async throws {
        let flight = try await Flight()
        try await flight.register(20)
        let canary = try await Canary(flight, Rollout(nil, sample: .size(5)))
        let sequence = canary.notification.sequence
        let first = CountedSample(threshold: 7, audience: 20, isWholeAudience: false)
        let second = CountedSample(threshold: 9, audience: 21, isWholeAudience: false)
        #expect(try await flight.storage.setSample(first, ofRollout: sequence)?.threshold == 7)
        #expect(try await flight.storage.setSample(second, ofRollout: sequence)?.threshold == 7)
        #expect(try await canary.status().audience == 20)
    }

    @Test func aShareNeedsNoCount() async throws {
        let flight = try await Flight(pageSize: 50)
        try await flight.register(400)
        let canary = try await Canary(flight, Rollout(nil, sample: .share(2500)))
        try await canary.runAll()
        let sent = flight.transport.lofts.count
        #expect((55...145).contains(sent))
        let status = try await canary.status()
        #expect(status.audience == nil)
        #expect(status.sampleSize == sent)
        #expect(SendNumbers(status).targeted == nil)
        _ = try await canary.apply(.resume)
        _ = try await canary.release()
        try await canary.runAll()
        #expect(Set(flight.transport.lofts).count == 400)
        #expect(flight.transport.lofts.count == 400)
    }

    @Test func aCanaryDoesNotHoldIfTheSampleIsTheAudience() async throws {
        let flight = try await Flight(pageSize: 50)
        try await flight.register(20)
        let canary = try await Canary(flight, Rollout(nil, sample: .size(20)))
        try await canary.runAll()
        #expect(flight.transport.lofts.count == 20)
        let status = try await canary.status()
        #expect(status.report.state == .completed)
        #expect(status.waitingParts == 0)
    }

    @Test func aCanaryWithoutAnAudienceEnds() async throws {
        let flight = try await Flight()
        let canary = try await Canary(flight, Rollout(nil, sample: .size(20)))
        try await canary.runAll()
        #expect(try await canary.status().report.state == .noTargetFound)
        #expect(try await flight.storage.nextDue() == nil)
    }

    @Test func aListOfHandlesHasASampleToo() async throws {
        let flight = try await Flight(pageSize: 9)
        let handles = (1...60).map { PushHandle("loft\($0)") }
        let canary = try await Canary(flight, Rollout(nil, sample: .size(12)), to: .direct(handles))
        try await canary.runAll()
        #expect(Set(flight.transport.lofts).count == 12)
        _ = try await canary.apply(.resume)
        _ = try await canary.release()
        try await canary.runAll()
        #expect(flight.transport.lofts.count == 60)
        #expect(Set(flight.transport.lofts).count == 60)
        #expect(try await canary.status().report.counts[CarrierPigeon.platform] == [.success: 60])
    }

    @Test func theRateAppliesOnlyToTheRest() async throws {
        let flight = try await Flight(pageSize: 100)
        try await flight.register(60)
        let canary = try await Canary(flight, Rollout(.over(.seconds(400)), sample: .size(20)))
        let start = flight.time.now
        try await canary.runAll()
        #expect(flight.transport.lofts.count == 20)
        #expect(flight.time.now == start)
        _ = try await canary.apply(.resume)
        _ = try await canary.release()
        try await canary.runAll()
        #expect(Set(flight.transport.lofts).count == 60)
        // 40 pushes take 400 s. If the device that is last in the store's order belongs to the sample, the page that
        // finds no further device waits for its turn too, 10 s more.
        #expect((380.0...411.0).contains((flight.time.now - start) / .seconds(1)))
    }

    // MARK: Holding

    @Test func itContinuesByItselfIfTheSampleIsHealthy() async throws {
        let flight = try await Flight(pageSize: 50)
        try await flight.register(40)
        let rollout = Rollout(nil, halt: Rollout.Halt(share: 1000), sample: .size(10), wait: .seconds(600))
        let canary = try await Canary(flight, rollout)
        try await canary.runAll()
        let heldAt = flight.time.now
        #expect(try await canary.status().canary?.goesOnAt == heldAt + .seconds(600))
        #expect(try await flight.storage.nextDue() == heldAt + .seconds(600))
        flight.time.advance(by: .seconds(599))
        #expect(try await flight.storage.canariesDue(at: flight.time.now, limit: 10).isEmpty)
        flight.time.advance(by: .seconds(1))
        #expect(
            try await flight.storage.canariesDue(at: flight.time.now, limit: 10).map(\.id) == [canary.notification.id])
        #expect(try await canary.evaluate() == .release)
        #expect(try await canary.release() == 1)
        try await canary.runAll()
        #expect(try await canary.status().report.state == .completed)
        #expect(flight.transport.lofts.count == 40)
    }

    @Test func itHaltsIfTooManyOfTheSampleFailedAndAResumeReleasesTheRest() async throws {
        let isBad = Flag(true)
        let flight = try await Flight(pageSize: 50) { _, _ in isBad.isOn ? answered(400) : answered(200) }
        try await flight.register(40)
        let rollout = Rollout(nil, halt: Rollout.Halt(share: 1000), sample: .size(5), wait: .seconds(60))
        let canary = try await Canary(flight, rollout)
        try await canary.runAll()
        #expect(try await canary.status().control == .running, "five answers are too few for the rule of the roll-out")
        flight.time.advance(by: .seconds(60))
        #expect(try await canary.evaluate() == .halt)
        #expect(try await canary.status().control == .halted)
        #expect(try await canary.release() == 0)
        isBad.isOn = false
        _ = try await canary.apply(.resume)
        #expect(try await canary.release() == 1)
        try await canary.runAll()
        #expect(try await canary.status().report.counts[CarrierPigeon.platform]?[.success] == 35)
    }

    @Test func tooManyFailuresHaltTheSampleItself() async throws {
        let flight = try await Flight(pageSize: 10) { _, _ in answered(400) }
        try await flight.register(500)
        let halt = Rollout.Halt(share: 1000, statesAnswers: false)
        let canary = try await Canary(flight, Rollout(nil, halt: halt, sample: .size(200)))
        try await canary.runAll()
        #expect(flight.transport.lofts.count == 20, "a tenth of the sample is enough")
        #expect(try await canary.status().control == .halted)
    }

    @Test func itWaitsForAnswersAndEachAnswerIsEvaluated() async throws {
        let isSlow = Flag(true)
        let flight = try await Flight(pageSize: 50) { _, _ in isSlow.isOn ? answered(429) : answered(200) }
        try await flight.register(40)
        let canary = try await Canary(flight, Rollout(nil, sample: .size(10), wait: .seconds(60)))
        let sample = try await flight.storage.unfinished(after: .none, limit: 1)[0].delivery
        _ = try await flight.run(sample)
        flight.time.advance(by: .seconds(60))
        #expect(try await canary.evaluate() == .waitForAnswers)
        #expect(try await canary.status().waitsForAnswers(at: flight.time.now))
        try await flight.storage.recordWaitingForAnswers(of: canary.notification.sequence, at: flight.time.now)
        #expect(
            try await flight.storage.canariesDue(at: flight.time.now, limit: 10).isEmpty, "the clock judges it once")
        isSlow.isOn = false
        flight.time.advance(by: .seconds(3600))
        _ = try await flight.run(sample)
        #expect(try await canary.status().canary?.releasedAt != nil, "the last answer let it go")
        #expect(try await canary.release() == 1)
    }

    @Test func aCanaryPausedWhileItHeldHoldsAgain() async throws {
        let flight = try await Flight(pageSize: 50)
        try await flight.register(40)
        let canary = try await Canary(flight, Rollout(nil, sample: .size(10), wait: .seconds(60)))
        _ = try await canary.apply(.resume)
        #expect(try await canary.status().canary?.releasedAt == nil, "the sample is not sent yet: nothing changes")
        try await canary.runAll()
        _ = try await canary.apply(.pause)
        #expect(try await !canary.status().isHolding)
        flight.time.advance(by: .seconds(600))
        #expect(try await canary.evaluate() == nil)
        _ = try await canary.apply(.resume)
        #expect(try await canary.status().isHolding)
        _ = try await canary.apply(.resume)
        _ = try await canary.apply(.resume)
        #expect(try await canary.release() == 1)
    }

    @Test(arguments: ["holds", "paused", "resumed"]) func itIsAbandonedWhereItExpiresBeforeTheRestWasSent(
        how: String
    ) async throws {
        let flight = try await Flight(pageSize: 50)
        try await flight.register(20)
        let canary = try await Canary(flight, Rollout(.rate(1), sample: .size(5)), lifetime: .seconds(60))
        try await canary.runAll()
        if how == "paused" { _ = try await canary.apply(.pause) }
        if how == "resumed" {
            _ = try await canary.apply(.resume)
            _ = try await canary.release()
            let rest = try #require(try await flight.storage.unfinished(after: .none, limit: 1).first)
            // The rate counts from the sample on.
            flight.time.advance(by: .seconds(2))
            _ = try await flight.run(rest.delivery)
        }
        flight.time.advance(by: .seconds(60))
        _ = try await canary.release()
        try await canary.runAll()
        let report = try await canary.status().report
        let reached = flight.transport.lofts.count
        #expect(how == "resumed" ? (6..<20).contains(reached) : reached == 5)
        #expect(report.state == .abandoned)
        #expect(report.counts == [CarrierPigeon.platform: [.success: reached, .abandoned: 20 - reached]])
    }

    // MARK: What tells of it

    @Test func aTraceSaysWhetherADeviceIsInTheSample() async throws {
        let flight = try await Flight(pageSize: 50)
        try await flight.register(20, tags: ["a"])
        try await flight.register("other", id: "other", tags: ["b"])
        let canary = try await Canary(flight, Rollout(nil, sample: .size(5)), to: .audience(.tag(Tag("a"))))
        #expect(try await Set(canary.verdicts(20).values) == [.pending])
        try await canary.runAll()
        let first = Set(flight.transport.lofts)
        let held = try await canary.verdicts(20)
        for (number, verdict) in held { #expect((verdict == .delivered) == first.contains("loft\(number)")) }
        #expect(Set(held.values) == [.delivered, .pending])
        #expect(try await canary.trace("other").verdict == .excluded)
        let number = try #require(held.first { $0.value == .pending }?.key)
        #expect(try await canary.trace("r\(number)").sentences.contains { $0.contains("when the canary continues") })
        #expect(try await canary.trace("r\(number)").pushes[0].side == .rest)
        _ = try await canary.apply(.resume)
        _ = try await canary.release()
        try await canary.runAll()
        #expect(try await Set(canary.verdicts(20).values) == [.delivered])
        let after = try await canary.trace("r\(number)").sentences
        #expect(after.contains("It is not in the sample: it was sent to with the rest, after the sample."))
        #expect(!after.contains { $0.contains("when the canary continues") })
    }

    @Test func aTraceTellsTheSideOfTheHandleThatTheDeviceHadAtTheSend() async throws {
        let flight = try await Flight(pageSize: 50)
        try await flight.register(40)
        for number in 1...30 { try await flight.register("moved\(number)", id: "r\(number)") }
        let canary = try await Canary(flight, Rollout(nil, sample: .size(15)))
        try await canary.runAll()
        _ = try await canary.apply(.cancel)
        _ = try await canary.release()
        try await canary.runAll()
        #expect(try await canary.status().report.counts[CarrierPigeon.platform] == [.success: 15, .canceled: 25])
        let sample = Set(flight.transport.lofts)
        for number in 1...40 {
            let isFirst = sample.contains(number <= 30 ? "moved\(number)" : "loft\(number)")
            let trace = try await canary.trace("r\(number)")
            #expect(trace.verdict == (isFirst ? .delivered : .canceled))
            #expect(trace.pushes[0].side == (isFirst ? .sample : .rest))
            #expect(trace.pushes[0].isMember)
        }
    }

    @Test func aTraceTellsThatAHandleChangedBetweenTheSampleAndTheRest() async throws {
        let flight = try await Flight(pageSize: 50)
        try await flight.register(60)
        let canary = try await Canary(flight, Rollout(nil, sample: .size(20)))
        try await canary.runAll()
        let waiting = try await canary.verdicts(60).filter { $0.value == .pending }.keys.sorted()
        flight.time.advance(by: .seconds(1))
        for number in waiting.prefix(30) { try await flight.register("moved\(number)", id: "r\(number)") }
        _ = try await canary.apply(.resume)
        _ = try await canary.release()
        try await canary.runAll()
        for number in waiting.prefix(30) {
            let trace = try await canary.trace("r\(number)")
            #expect(trace.verdict == .missed)
            #expect(trace.pushes[0].side == .rest)
        }
        for number in waiting.dropFirst(30) { #expect(try await canary.trace("r\(number)").verdict == .delivered) }
    }

    @Test func aTraceOfTheSampleKeepsItsAttemptsIfTheRestReachesTheHandle() async throws {
        let flight = try await Flight(pageSize: 50) { _, attempt in answered(attempt == 1 ? 429 : 200) }
        try await flight.register(40)
        let canary = try await Canary(flight, Rollout(nil, sample: .size(10)))
        let sample = try await flight.storage.unfinished(after: .none, limit: 1)[0].delivery
        _ = try await flight.run(sample)
        let first = Set(flight.transport.lofts)
        let mover = try #require((1...40).first { first.contains("loft\($0)") })
        let other = try #require((1...40).first { !first.contains("loft\($0)") })
        try await flight.register("loft\(other)", id: "r\(mover)")
        _ = try await canary.apply(.resume)
        _ = try await canary.release()
        for _ in 0..<20 {
            flight.time.advance(by: .seconds(120))
            for progress in try await flight.storage.unfinished(after: .none, limit: 10) {
                _ = try await flight.run(progress.delivery)
            }
        }
        let trace = try await canary.trace("r\(mover)")
        #expect(trace.verdict == .delivered)
        #expect(trace.pushes[0].side == .sample)
        #expect(trace.pushes[0].isReachedByAnother)
        #expect(trace.pushes[0].attempts.map(\.answer?.status) == [429, nil])
        #expect(trace.sentences.contains("It is in the sample, to which the notification was sent first."))
        #expect(!trace.sentences.contains { $0.contains("at the first attempt") })
    }

    @Test func aDryRunReportsASampleThatIsTheWholeAudience() {
        var run = DryRun(
            startsAt: Timestamp(milliseconds: 0), expiresAt: Timestamp(milliseconds: 86_400_000),
            rollout: Rollout(nil, sample: .size(100)))
        run.platforms = [
            DryRun.PlatformResult(
                platform: CarrierPigeon.platform, targeted: 100, devices: 100, credential: CredentialCheck(.usable),
                payloads: [], problems: [])
        ]
        #expect(run.problems.contains { $0.hasPrefix("The sample would be the whole audience") })
        run.rollout = Rollout(nil, sample: .size(99))
        #expect(run.problems.isEmpty)
        #expect(run.sampleSize == 99)
    }

    @Test func aCanaryThatWouldWaitUntilItExpiresIsRefused() async throws {
        let flight = try await Flight()
        await #expect(throws: NotificationIntakeError.self) {
            _ = try await Canary(
                flight, Rollout(nil, sample: .size(5), wait: .seconds(3600)), lifetime: .seconds(3600))
        }
    }
}

/// A canary and the deliveries that it has come to.
struct Canary {
    let flight: Flight
    let notification: Notification

    init(
        _ flight: Flight, _ rollout: Rollout, to target: Notification.Target = .audience(nil),
        lifetime: Duration = .seconds(86_400), collapse: String? = nil
    ) async throws {
        self.flight = flight
        let intake = NotificationIntake(
            store: flight.storage, platforms: flight.platforms, time: flight.time, lifetime: lifetime,
            accepted: { _ in })
        let message = Message(body: [1], fields: collapse.map { ["pigeon-collapse": $0] } ?? [:])
        let id = try await intake.accept(
            .native(CarrierPigeon.platform, message), to: target, in: flight.hub, rollout: rollout)
        notification = try #require(try await flight.storage.traced(id, in: flight.hub)).notification
    }

    /// Runs every delivery to its end, moving the clock to the moments that roll-outs ask for.
    func runAll() async throws {
        for _ in 0..<1000 {
            var isDone = true
            for progress in try await flight.storage.unfinished(after: .none, limit: 100) {
                switch try await flight.run(progress.delivery) {
                case .waiting(let until):
                    flight.time.advance(to: until)
                    isDone = false
                case .held: return
                default: break
                }
            }
            if isDone { return }
        }
        Issue.record("it does not end")
    }

    func status() async throws -> SendStatus {
        try #require(try await flight.storage.status(notification.id, in: flight.hub))
    }

    func apply(_ wish: ControlRequest) async throws -> ControlChange {
        try await flight.controls.apply(wish, to: notification.id, in: flight.hub)
    }

    func evaluate() async throws -> CanaryVerdict? {
        try await flight.controls.evaluateCanary(notification.id, in: flight.hub, at: flight.time.now)
    }

    /// - Returns: How many deliveries have begun.
    func release() async throws -> Int {
        try await flight.storage.release(due: flight.time.now, limit: 100).deliveries.count
    }

    func trace(_ device: String) async throws -> DeviceTrace {
        let traces = Traces(
            store: flight.storage, maps: flight.maps, platforms: flight.platforms, messageIDs: MessageIDKey(1, 2))
        return try #require(try await traces.trace(notification.id, of: device, in: flight.hub))
    }

    func verdicts(_ count: Int) async throws -> [Int: TraceVerdict] {
        var verdicts: [Int: TraceVerdict] = [:]
        for number in 1...count { verdicts[number] = try await trace("r\(number)").verdict }
        return verdicts
    }
}
