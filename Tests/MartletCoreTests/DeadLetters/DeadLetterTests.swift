import MartletHTTP
import MartletModel
import MartletTesting
import Synchronization
import Testing

@testable import MartletCore

struct DeadLetterTests {
    private func resend(
        _ flight: Flight, _ original: Delivery, _ outcome: OutcomeName? = nil
    ) async throws -> Delivery {
        let begun = Mutex<[Delivery]>([])
        let letters = DeadLetters(store: flight.storage, time: flight.time) { deliveries in
            begun.withLock { $0 = deliveries }
        }
        guard case .accepted = try await letters.resend(original.notification.id, outcome: outcome, in: flight.hub)
        else { throw NotificationIntakeError.conflicting }
        let first = begun.withLock { $0.first }
        return try #require(first)
    }

    private func page(_ flight: Flight, _ delivery: Delivery) async throws -> DeadLetterPage {
        let letters = DeadLetters(store: flight.storage, time: flight.time) { _ in }
        return try #require(try await letters.page(of: delivery.notification.id, in: flight.hub, limit: 100))
    }

    @Test func aResendReachesOnlyTheDevicesThatFailed() async throws {
        let isSick = Flag(true)
        let flight = try await Flight { loft, _ in
            isSick.isOn && ["loft2", "loft5", "loft6"].contains(loft) ? answered(400) : answered(200)
        }
        try await flight.register(7)
        let original = try await flight.accept()
        #expect(try await flight.run(original) == .finished)
        let page = try await page(flight, original)
        #expect(page.refusals.records.map(\.registration) == ["r2", "r5", "r6"])
        #expect(page.refusals.records.allSatisfy { $0.status == 400 && $0.attempts == 1 })
        isSick.isOn = false
        let second = try await resend(flight, original)
        #expect(second.notification.id != original.notification.id)
        let before = flight.transport.lofts.count
        #expect(try await flight.run(second) == .finished)
        #expect(flight.transport.lofts.dropFirst(before) == ["loft2", "loft5", "loft6"])
        #expect(try await flight.report(second).counts == [.success: 3])
        let traces = Traces(
            store: flight.storage, maps: flight.maps, platforms: flight.platforms, messageIDs: MessageIDKey(1, 2))
        let trace = try #require(try await traces.trace(second.notification.id, of: "r1", in: flight.hub))
        #expect(trace.sentences.first == "Not in the audience: it sent dead letters again, and this device had none.")
        #expect(trace.pushes.first?.isMember == false)
    }

    @Test func lettersAreListedNewestFirstByOutcomeAndCountedByReason() async throws {
        let statuses = Mutex<[String: Int]>([:])
        let flight = try await Flight { loft, _ in answered(statuses.withLock { $0[loft] } ?? 200) }
        try await flight.register(4)
        var sent: [Delivery] = []
        for status in [400, 200, 400] {
            statuses.withLock { $0 = ["loft1": status, "loft2": status] }
            let delivery = try await flight.accept()
            #expect(try await flight.run(delivery) == .finished)
            sent.append(delivery)
        }
        let letters = DeadLetters(store: flight.storage, time: flight.time) { _ in }
        let (first, last) = (sent[0].notification.id, sent[2].notification.id)
        let page = try await letters.latest(in: flight.hub, before: nil, limit: 1)
        #expect(page.summaries.map(\.id) == [max(first, last)] && page.next == max(first, last))
        let rest = try await letters.latest(in: flight.hub, before: page.next, limit: 5)
        #expect(rest.summaries.map(\.id) == [min(first, last)] && rest.next == nil)
        let outcome = try #require(page.summaries[0].counts.values.first?.keys.first)
        let named = try await letters.latest(in: flight.hub, outcome: outcome, before: nil, limit: 5)
        #expect(named.summaries.count == 2)
        let none = try await letters.latest(in: flight.hub, outcome: .wrongToken, before: nil, limit: 5)
        #expect(none.summaries.isEmpty && none.next == nil)
        let reasons = try #require(try await letters.reasons(of: first, in: flight.hub))
        #expect(reasons.counts.map(\.count) == [2] && reasons.counts.map(\.outcome) == [outcome] && !reasons.isPartial)
        #expect(try await letters.reasons(of: first, in: flight.hub, lookLimit: 1)?.isPartial == true)
        let own = try await letters.page(of: first, in: flight.hub, outcome: outcome, limit: 1)
        #expect(own?.refusals.records.count == 1 && own?.refusals.next != nil)
        let other = try await letters.page(of: first, in: flight.hub, outcome: .wrongToken, limit: 1)
        #expect(other?.refusals.records.isEmpty == true && other?.refusals.next == nil)
    }

    @Test func aDeviceThatIsNotInTheAudienceAnyMoreDoesNotGetIt() async throws {
        let isSick = Flag(true)
        let flight = try await Flight { _, _ in isSick.isOn ? answered(400) : answered(200) }
        for number in 1...4 { try await flight.register("loft\(number)", id: "r\(number)", tags: ["user:ann"]) }
        let original = try await flight.accept(to: .audience(TagExpression("user:ann")))
        #expect(try await flight.run(original) == .finished)
        isSick.isOn = false
        try await flight.register("loft2", id: "r2", tags: ["user:bob"])
        _ = try await flight.registry.delete("r3", in: flight.hub)
        try await flight.register("loft4", id: "another", tags: ["user:ann"])
        _ = try await flight.registry.delete("r4", in: flight.hub)
        let before = flight.transport.lofts.count
        let second = try await resend(flight, original)
        #expect(try await flight.run(second) == .finished)
        #expect(flight.transport.lofts.dropFirst(before) == ["loft1"])
    }

    @Test func aResendThatReachesNobodyFindsNoTarget() async throws {
        let flight = try await Flight { _, _ in answered(400) }
        try await flight.register(1)
        let original = try await flight.accept()
        #expect(try await flight.run(original) == .finished)
        let second = try await resend(flight, original)
        // After it was accepted: anyone who is gone before that is not sent to at all.
        _ = try await flight.registry.delete("r1", in: flight.hub)
        #expect(try await flight.run(second) == .finished)
        #expect(try await flight.report(second).state == .noTargetFound)
    }

    @Test func retriesThatAreGivenUpAreDeadLettersWithTheirReasonPageByPage() async throws {
        let flight = try await Flight { _, _ in answered(429, ["retry-after": "100"]) }
        try await flight.register(7)
        let original = try await flight.accept(lifetime: .seconds(150))
        guard case .waiting = try await flight.run(original) else {
            Issue.record("it waits for the time that the service has said")
            return
        }
        flight.time.advance(by: .seconds(160))
        #expect(try await flight.run(original) == .finished)
        #expect(try await flight.report(original).state == .abandoned)
        #expect(try await flight.report(original).counts == [.abandoned: 7])
        let page = try await page(flight, original)
        #expect(page.refusals.records.map(\.handle) == (1...7).map { PushHandle("loft\($0)") })
        #expect(page.refusals.records.allSatisfy { $0.outcome == .abandoned && $0.reason.contains("Throttled") })
        #expect(page.summary.counts == [CarrierPigeon.platform: [.abandoned: 7]])
        #expect(try await flight.storage.nextRetry(of: original.id) == nil)
    }

    @Test func allDevicesOfAnUndeliverableMessageAreDeadLettersAndCanBeResent() async throws {
        let flight = try await Flight(hasCredential: false)
        try await flight.register(8)
        let original = try await flight.accept()
        #expect(try await flight.run(original) == .finished)
        #expect(try await flight.report(original).counts == [.invalidCredentials: 8])
        let found = try await page(flight, original).refusals.records
        #expect(found.map(\.registration) == (1...8).map { "r\($0)" })
        #expect(Set(found.map(\.reason)).count == 1)
        #expect(Set(found.map(\.attempts)).count == 1)
        try await flight.giveCredential()
        let second = try await resend(flight, original)
        #expect(try await flight.run(second) == .finished)
        #expect(flight.transport.lofts == (1...8).map { "loft\($0)" })
    }

    @Test func devicesLeftOutAfterARefusedMessageAreDeadLetters() async throws {
        let flight = try await Flight { _, _ in answered(413) }
        try await flight.register(8)
        let original = try await flight.accept()
        #expect(try await flight.run(original) == .finished)
        #expect(flight.transport.lofts.count == 3, "the others were spared it")
        #expect(try await flight.report(original).counts == [.invalidNotificationSize: 8])
        let found = try await page(flight, original).refusals.records
        #expect(found.map(\.registration) == (1...8).map { "r\($0)" })
        #expect(found.map(\.status) == [413, 413, 413, nil, nil, nil, nil, nil])
        let traces = Traces(
            store: flight.storage, maps: flight.maps, platforms: flight.platforms, messageIDs: MessageIDKey(1, 2))
        let trace = try #require(try await traces.trace(original.notification.id, of: "r8", in: flight.hub))
        #expect(trace.verdict == .suppressed)
        #expect(trace.pushes[0].range?.reasons == [.invalidNotificationSize: "TooHeavy"])
    }

    @Test func devicesNotReachedBeforeTheExpiryAreDeadLetters() async throws {
        let flight = try await Flight()
        try await flight.register(8)
        let original = try await flight.accept(lifetime: .seconds(60))
        var run = DeliveryRun(DeliveryProgress(original))
        #expect(await flight.deliverer.run(&run) == .yielded)
        flight.time.advance(by: .seconds(60))
        #expect(try await flight.run(original) == .finished)
        #expect(try await flight.report(original).state == .abandoned)
        #expect(try await flight.report(original).counts == [.success: 3, .abandoned: 5])
        let found = try await page(flight, original).refusals.records
        #expect(found.map(\.registration) == (4...8).map { "r\($0)" })
        #expect(found.allSatisfy { $0.reason.contains("before its turn") && $0.attempts == 0 })
        let traces = Traces(
            store: flight.storage, maps: flight.maps, platforms: flight.platforms, messageIDs: MessageIDKey(1, 2))
        let trace = try #require(try await traces.trace(original.notification.id, of: "r8", in: flight.hub))
        #expect(trace.verdict == .expired)
        #expect(trace.pushes[0].attempts.isEmpty)
        #expect(trace.pushes[0].range?.reasons.keys.map(\.self) == [.abandoned])
        #expect(try await flight.run(try await resend(flight, original)) == .finished)
        #expect(flight.transport.lofts == (1...8).map { "loft\($0)" })
    }

    @Test func pagesOfDeadLettersAreAsLongAsOtherPages() async throws {
        let flight = try await Flight(pageSize: 1200, hasCredential: false)
        let handles = (1...2500).map { PushHandle("loft\($0)") }
        let draft = NotificationDraft(
            id: NotificationID(at: flight.time.now), hub: flight.hub,
            content: .native(CarrierPigeon.platform, Message(body: [1])), target: .direct(handles),
            acceptedAt: flight.time.now, expiresAt: flight.time.now + .seconds(60))
        guard case .accepted(_, let deliveries) = try await flight.storage.accept(draft) else {
            throw StorageError(.closed, "not accepted")
        }
        let original = try #require(deliveries.first)
        var run = DeliveryRun(DeliveryProgress(original))
        var sizes: [Int] = []
        for _ in 0..<3 {
            let before = run.progress.cursor.registration
            #expect(await flight.deliverer.run(&run) == .yielded)
            sizes.append(Int(run.progress.cursor.registration - before))
            if sizes.count == 2 { flight.time.advance(by: .seconds(60)) }
        }
        #expect(sizes == [50, 1200, 1200])
        #expect(await flight.deliverer.run(&run) == .yielded)
        #expect(await flight.deliverer.run(&run) == .finished)
        #expect(try await flight.report(original).counts == [.invalidCredentials: 1250, .abandoned: 1250])
    }

    @Test func aResendIsItselfTriedAgainAndLeavesDeadLettersOfItsOwn() async throws {
        let flight = try await Flight { _, _ in answered(400) }
        try await flight.register(2)
        let original = try await flight.accept()
        #expect(try await flight.run(original) == .finished)
        let second = try await resend(flight, original)
        #expect(try await flight.run(second) == .finished)
        let third = try await resend(flight, second)
        #expect(try await flight.run(third) == .finished)
        #expect(flight.transport.lofts == ["loft1", "loft2", "loft1", "loft2", "loft1", "loft2"])
        #expect(Set(flight.transport.sent.map(\.id)).count == 6, "a new notification has message ids of its own")
    }

    @Test func aDirectSendIsSentAgainToTheHandlesThatFailed() async throws {
        let isSick = Flag(true)
        let flight = try await Flight { loft, _ in isSick.isOn && loft == "b" ? answered(400) : answered(200) }
        let original = try await flight.accept(to: .direct(["a", "b", "c"].map { PushHandle($0) }))
        #expect(try await flight.run(original) == .finished)
        isSick.isOn = false
        #expect(try await flight.run(try await resend(flight, original)) == .finished)
        #expect(flight.transport.lofts == ["a", "b", "c", "b"])
    }
}
