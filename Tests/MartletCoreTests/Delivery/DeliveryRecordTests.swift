import MartletHTTP
import MartletModel
import MartletTesting
import Testing

@testable import MartletCore

/// What a delivery leaves behind for who asks later.
struct DeliveryRecordTests {
    private func evidence(_ delivery: Delivery, _ flight: Flight, _ channel: Int64) async throws -> MemberEvidence {
        let member = AudienceMember(channel: ChannelID(rawValue: channel))
        return try #require(try await flight.storage.evidence(of: [member], in: delivery.id)?.members[member])
    }

    @Test func everyPageLeavesItsRangeAndTheLastGoesToTheEnd() async throws {
        let flight = try await Flight(pageSize: 2)
        try await flight.register(5)
        let delivery = try await flight.accept()
        #expect(try await flight.run(delivery) == .finished)
        var ranges: [RangeRecord?] = []
        for channel: Int64 in [1, 2, 3, 4, 5, 900] {
            ranges.append(try await evidence(delivery, flight, channel).range)
        }
        #expect(ranges.map { $0?.last.channel.rawValue } == [2, 2, 4, 4, .max, .max])
        #expect(ranges.map { $0?.counts } == [2, 2, 2, 2, 1, 1].map { [OutcomeName.success: $0] })
        #expect(Set(ranges.map { $0?.snapshot }) == [AudienceSnapshot(change: 0, registration: 5)])
        #expect(ranges[0]?.origins == ["https://pigeon.example"])
        #expect(try await evidence(delivery, flight, 3).isReached)
        #expect(flight.maps.count == 0, "the bits are in the store")
    }

    @Test func aSuccessLeavesItsBitAndNothingElse() async throws {
        let flight = try await Flight()
        try await flight.register(1)
        let delivery = try await flight.accept()
        _ = try await flight.run(delivery)
        let found = try await evidence(delivery, flight, 1)
        #expect(found.isReached && found.attempts.isEmpty && found.refusal == nil && found.retry == nil)
        #expect(try await !evidence(delivery, flight, 2).isReached)
    }

    @Test func everyAttemptOfARetryIsKeptWithItsAnswer() async throws {
        let flight = try await Flight { loft, attempt in
            loft == "loft2" && attempt < 3 ? answered(429) : answered(200)
        }
        try await flight.register(2)
        let delivery = try await flight.accept()
        let started = flight.time.now
        while case .waiting(let until) = try await flight.run(delivery) { flight.time.advance(to: until) }
        let found = try await evidence(delivery, flight, 2)
        #expect(found.attempts.map(\.number) == [1, 2, 3])
        #expect(found.attempts.map(\.answer?.status) == [429, 429, 200])
        #expect(found.attempts.first?.at == started)
        #expect(found.attempts.last?.at == flight.time.now)
        #expect(found.attempts.last?.outcome == .success)
        #expect(found.isReached)
    }

    @Test func aRefusalIsKeptWithWhatItMeansForTheToken() async throws {
        let flight = try await Flight { loft, _ in loft == "loft2" ? answered(404) : answered(200) }
        try await flight.register(2)
        let delivery = try await flight.accept()
        _ = try await flight.run(delivery)
        let refusal = try #require(try await evidence(delivery, flight, 2).refusal)
        #expect(refusal.answer == PushAnswer(origin: "https://pigeon.example", status: 404))
        #expect(refusal.fate == .removed)
        #expect(refusal.attempts == 1)
    }

    @Test func onlyATimeBeforeTheAnswerIsComparedWithTheRegistration() {
        let now = Timestamp(seconds: 1_700_000_000)
        var tally = PageTally(
            platform: nil, policy: RetryPolicy(), now: now, expiresAt: now + .seconds(60), areRetries: false)
        for (channel, since) in [(1, now + .seconds(-3600)), (2, now), (3, nil)] as [(Int64, Timestamp?)] {
            let member = AudienceMember(channel: ChannelID(rawValue: channel))
            tally.add(
                Outcome(.expiredChannel, reason: "Unregistered", .drop(asOf: since, guarded: false)),
                to: PageTally.Addressee(member: member, attemptsBefore: 0, answeredAt: now), chance: 0)
        }
        #expect(tally.outcomes.refusals.map(\.goneSince) == [now + .seconds(-3600), nil, nil])
        let channels = Set((1...3).map { ChannelID(rawValue: $0) })
        tally.decideFates(removing: channels, quarantining: [])
        var step = DeliveryStep(
            delivery: Delivery.ID(rawValue: 1), isFannedOut: true, state: .completed,
            refusals: tally.outcomes.refusals)
        #expect(step.channelsToCheck == [ChannelID(rawValue: 1)])
        step.keepRenewedHandles { $0 == ChannelID(rawValue: 1) ? now + .seconds(-3599) : nil }
        #expect(step.refusals.map(\.fate) == [.kept, .removed, .removed])
    }

    @Test func aDeadTokenIsQuarantinedWhileMostLookDead() async throws {
        let flight = try await Flight(pageSize: 40) { _, _ in answered(410) }
        try await flight.register(30)
        let delivery = try await flight.accept()
        _ = try await flight.run(delivery)
        #expect(try await evidence(delivery, flight, 7).refusal?.fate == .quarantined)
        #expect(try await flight.registry.registration("r7", in: flight.hub) != nil)
    }

    @Test func aReportThatIsNotBelievedKeepsTheHandleAndIsNoQuarantine() async throws {
        let flight = try await Flight(pageSize: 40) { _, _ in answered(410) }
        try await flight.register(8)
        let delivery = try await flight.accept()
        _ = try await flight.run(delivery)
        #expect(try await evidence(delivery, flight, 7).refusal?.fate == .kept)
        #expect(flight.lanes.quarantines.values.allSatisfy { $0 == 0 })
        #expect(try await flight.registry.registration("r7", in: flight.hub) != nil)
    }

    @Test func whyMembersWereSparedIsKeptOfThePageAndOfEach() async throws {
        let flight = try await Flight(hasCredential: false)
        try await flight.register(7)
        let delivery = try await flight.accept()
        _ = try await flight.run(delivery)
        let found = try await evidence(delivery, flight, 7)
        #expect(found.refusal?.reason == "The hub has no credential for pigeon.")
        #expect(found.refusal?.answer == nil)
        #expect(found.range?.reasons == [.invalidCredentials: "The hub has no credential for pigeon."])
    }
}
