import MartletModel
import Testing

@testable import MartletCore

struct FailureAttributionTests {
    private let start = Timestamp(seconds: 1000)

    private func evidence(
        after time: Int64 = 0, answers: Int = 0, failing: [Int64] = [], connection: Int? = nil, unreachable: Int = 0
    ) -> PushEvidence {
        var evidence = PushEvidence(startedAt: start + .seconds(time))
        evidence.answers = answers
        evidence.unreachable = unreachable
        for number in failing {
            evidence.add(
                PushEvidence.Failure(
                    device: DeviceIdentity(ChannelID(rawValue: number)), connection: connection, outcome: .noAnswerYet))
        }
        return evidence
    }

    private func at(_ seconds: Int64) -> Timestamp { start + .seconds(seconds) }

    @Test func oneDeviceNeverStandsForTheService() {
        var attribution = FailureAttribution()
        for second in 0..<1000 {
            #expect(attribution.record(evidence(after: Int64(second), failing: [1]), at: at(Int64(second))) == .devices)
        }
    }

    @Test func oneDeviceWhosePushesEndConnectionsNeverStandsForTheService() {
        var attribution = FailureAttribution()
        for second in 0..<1000 {
            let failure = evidence(after: Int64(second), failing: [1], connection: second)
            #expect(attribution.record(failure, at: at(Int64(second))) == .devices)
        }
    }

    @Test func severalDevicesOneAfterAnotherStandForTheServiceUntilAnAnswer() {
        var attribution = FailureAttribution()
        #expect(attribution.record(evidence(failing: [1]), at: start) == .devices)
        #expect(attribution.record(evidence(failing: [2]), at: start) == .devices)
        #expect(attribution.record(evidence(failing: [1, 2]), at: start) == .devices)
        #expect(attribution.record(evidence(failing: [3]), at: start) == .service)
        #expect(attribution.record(evidence(), at: at(1)) == .devices, "nothing new")
        #expect(attribution.record(evidence(after: 500, failing: [1]), at: at(500)) == .service, "it still fails")
        #expect(attribution.record(evidence(after: 501, answers: 1), at: at(501)) == .devices)
        #expect(attribution.record(evidence(after: 502, failing: [1, 2]), at: at(502)) == .devices)
        #expect(attribution.record(evidence(after: 502, failing: [3]), at: at(502)) == .service)
    }

    @Test func aPageOfWhichNobodyIsAnsweredStandsForTheServiceAtOnce() {
        var attribution = FailureAttribution()
        #expect(attribution.record(evidence(failing: Array(1...50)), at: start) == .service)
        var other = FailureAttribution()
        #expect(other.record(evidence(answers: 1, failing: Array(1...50)), at: start) == .devices)
    }

    @Test func devicesThatFailWhileOthersAreAnsweredDoNotStandForTheService() {
        var attribution = FailureAttribution()
        #expect(attribution.record(evidence(after: 10, answers: 1), at: at(20)) == .devices)
        #expect(
            attribution.record(evidence(after: 0, failing: [1, 2, 3, 4]), at: at(30)) == .devices,
            "an answer came while they were waited for")
        #expect(attribution.record(evidence(after: 21, failing: [1, 2, 3]), at: at(51)) == .service)
    }

    @Test func aBrokenConnectionIsOneFailureHoweverManyItCarried() {
        var attribution = FailureAttribution()
        #expect(attribution.record(evidence(failing: Array(1...16), connection: 7), at: start) == .devices)
        #expect(attribution.record(evidence(failing: [20], connection: 8), at: start) == .devices)
        #expect(attribution.record(evidence(failing: [20], connection: 9), at: start) == .devices, "the same device")
        #expect(attribution.record(evidence(failing: [21], connection: 10), at: start) == .service)
    }

    @Test func aConnectionThatCannotBeMadeStandsForTheService() {
        var lane = FailureAttribution()
        #expect(lane.record(evidence(unreachable: 1), at: start) == .service)
        var address = FailureAttribution(connectionLimit: 3)
        #expect(address.record(evidence(unreachable: 2), at: start) == .devices)
        #expect(address.record(evidence(unreachable: 1), at: start) == .service)
    }

    @Test func failuresAreForgottenAfterAWhile() {
        var attribution = FailureAttribution()
        for number in 1...20 {
            let time = Int64(number) * 61
            #expect(
                attribution.record(evidence(after: time, failing: [Int64(number)]), at: at(time)) == .devices,
                "never three within two minutes")
        }
    }

    @Test func aClockThatIsSetBackDoesNotHideAFailureOfTheService() {
        var attribution = FailureAttribution()
        _ = attribution.record(evidence(after: 5000, answers: 1), at: at(5000))
        #expect(attribution.record(evidence(failing: [1, 2, 3]), at: start) == .service)
    }

    // MARK: Against the rule as it is stated

    private struct Event {
        var evidence: PushEvidence
        var at: Timestamp
    }

    /// The verdict from all that has happened.
    private func verdict(of history: [Event]) -> FailureAttribution.Verdict {
        guard let last = history.last, last.evidence.answers == 0 else { return .devices }
        let lastAnswer = history.last { $0.evidence.answers > 0 }?.at
        let since = history.reversed().prefix { $0.evidence.answers == 0 }.reversed()
        var hasFailed = false
        var counted: [(failure: PushEvidence.Failure, at: Timestamp)] = []
        for event in since {
            if event.evidence.unreachable > 0 { hasFailed = true }
            counted.removeAll { $0.at + FailureAttribution.window <= event.at }
            if lastAnswer.map({ $0 <= event.evidence.startedAt }) ?? true {
                for failure in event.evidence.failures where counted.count < FailureAttribution.deviceLimit {
                    let isNew = counted.allSatisfy { one in
                        one.failure.device != failure.device
                            && (one.failure.connection == nil || one.failure.connection != failure.connection)
                    }
                    if isNew { counted.append((failure, event.at)) }
                }
            }
            if counted.count >= FailureAttribution.deviceLimit { hasFailed = true }
        }
        let showsAnything = last.evidence.unreachable > 0 || !last.evidence.failures.isEmpty
        return hasFailed && showsAnything ? .service : .devices
    }

    @Test(arguments: 1...100)
    func itDecidesAsTheWholeHistoryWould(seed: UInt64) {
        var generator = Generator(state: seed)
        var attribution = FailureAttribution()
        var history: [Event] = []
        var now = start
        for step in 0..<200 {
            now = now + .seconds(Int64.random(in: 0...30, using: &generator))
            var evidence = PushEvidence(startedAt: now + .seconds(Int64.random(in: -30...0, using: &generator)))
            if Int.random(in: 0..<6, using: &generator) == 0 { evidence.answers = 1 }
            if Int.random(in: 0..<40, using: &generator) == 0 { evidence.unreachable = 1 }
            for _ in 0..<Int.random(in: 0...2, using: &generator) {
                evidence.add(
                    PushEvidence.Failure(
                        device: DeviceIdentity(ChannelID(rawValue: Int64.random(in: 1...6, using: &generator))),
                        connection: Bool.random(using: &generator) ? Int.random(in: 1...4, using: &generator) : nil,
                        outcome: .noAnswerYet))
            }
            history.append(Event(evidence: evidence, at: now))
            #expect(attribution.record(evidence, at: now) == verdict(of: history), "seed \(seed), step \(step)")
        }
    }
}

private struct Generator: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = (state ^ (state >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
