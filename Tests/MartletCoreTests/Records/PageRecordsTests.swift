import MartletModel
import MartletTesting
import Testing

@testable import MartletCore

struct PageRecordsTests {
    private static func refusal(
        _ member: AudienceMember, using random: inout SeededGenerator
    ) -> RecordedRefusal {
        let number = UInt64.random(in: 1_000_000_000_000_000_000...9_999_999_999_999_999_999, using: &random)
        let token = String(repeating: "0123456789abcdef", count: Int.random(in: 1...20, using: &random))
        let handles = [
            nil, PushHandle(token), PushHandle(""), PushHandle("ABCD"), PushHandle("abc"),
            PushHandle(parts: ["https://a.example/\(number)", "key", "auth"]), PushHandle("ü\(token)"),
        ]
        let answers = [
            nil,
            PushAnswer(
                origin: "https://a.example:443", status: 410, connection: Int.random(in: 1...70, using: &random)),
            PushAnswer(origin: "https://a.example:443", status: nil),
            PushAnswer(origin: "", status: -1, connection: -9),
        ]
        let refusal = Refusal(
            member: member, handle: handles.randomElement(using: &random) ?? nil,
            outcome: [.badChannel, .expiredChannel, OutcomeName(rawValue: "")].randomElement(using: &random)
                ?? .dropped,
            reason: ["", "Gone", "a\n\u{0}ü"].randomElement(using: &random) ?? "",
            at: Timestamp(milliseconds: Int64.random(in: -5...2_000_000_000_000, using: &random)),
            attempts: Int.random(in: 0...3, using: &random), answer: answers.randomElement(using: &random) ?? nil,
            fate: PageRecordsEncoder.fates.randomElement(using: &random) ?? .kept)
        let ids = [nil, "", "\(number)-\(number / 3 * 2)-1", "\(number)-\(number)-1", "bench-7"]
        return RecordedRefusal(
            refusal: refusal, registration: ids.randomElement(using: &random) ?? nil,
            installation: [nil, "", "my phone"].randomElement(using: &random) ?? nil)
    }

    private static func attempt(_ member: AudienceMember, _ number: Int) -> Attempt {
        Attempt(
            member: member, number: number, outcome: number == 2 ? .success : .throttled, reason: "Storm",
            answer: number == 3 ? nil : PushAnswer(origin: "https://b", status: 429, connection: number),
            at: Timestamp(milliseconds: 1_700_000_000_000 - Int64(number)), fate: number == 2 ? .moved : .kept)
    }

    private static func members(_ count: Int, using random: inout SeededGenerator) -> [AudienceMember] {
        var members: Set<AudienceMember> = []
        while members.count < count {
            let channel =
                Bool.random(using: &random)
                ? Int64.random(in: 0...9_000, using: &random) : Int64(random.next() >> 2)
            members.insert(
                AudienceMember(
                    channel: ChannelID(rawValue: channel), registration: Int64.random(in: 0...2, using: &random)))
        }
        return members.sorted()
    }

    private struct Sample {
        var refusals: [RecordedRefusal] = []
        var attempts: [Attempt] = []
        var bytes: [UInt8] = []

        init(_ count: Int, using random: inout SeededGenerator) {
            var encoder = PageRecordsEncoder()
            for member in PageRecordsTests.members(count, using: &random) {
                if Int.random(in: 0...2, using: &random) > 0 {
                    let refusal = PageRecordsTests.refusal(member, using: &random)
                    refusals.append(refusal)
                    encoder.append(
                        refusal.refusal, refusal.registration.map(PageRecordsEncoder.Registration.init),
                        installation: refusal.installation)
                }
                for number in 0..<Int.random(in: 0...3, using: &random) {
                    let attempt = PageRecordsTests.attempt(member, number)
                    attempts.append(attempt)
                    encoder.append(attempt)
                }
            }
            bytes = encoder.encoded()
        }
    }

    private static func describe(_ refusal: RecordedRefusal) -> String {
        let it = refusal.refusal
        return """
            \(it.member) \(it.handle?.parts ?? ["none"]) \(it.outcome) \(it.reason) \(it.at) \(it.attempts) \
            \(String(describing: it.answer)) \(it.fate) \(refusal.registration ?? "none") \
            \(refusal.installation ?? "none")
            """
    }

    @Test func randomRecordsComeBackAsTheyWere() throws {
        var random = SeededGenerator(seed: 21)
        for round in 0..<60 {
            let sample = Sample(round * 5, using: &random)
            let records = try #require(PageRecords(sample.bytes))
            #expect(records.refusalCount == sample.refusals.count)
            #expect(records.attemptCount == sample.attempts.count)
            for (index, refusal) in sample.refusals.enumerated() {
                #expect(Self.describe(records.recordedRefusal(index)) == Self.describe(refusal))
                #expect(records.refusal(of: refusal.refusal.member) == index)
                #expect(records.firstRefusal(after: refusal.refusal.member) == index + 1)
                #expect(records.outcome(ofRefusal: index) == refusal.refusal.outcome)
                #expect(
                    records.facts(ofRefusal: index)
                        == RefusalFacts(
                            outcome: refusal.refusal.outcome, wasSent: refusal.refusal.answer != nil,
                            hasHandle: refusal.refusal.handle != nil, attempts: refusal.refusal.attempts))
            }
            for member in Set(sample.attempts.map(\.member)) {
                #expect(records.attempts(of: member) == sample.attempts.filter { $0.member == member })
                #expect(records.hasAttempts(of: member))
            }
            #expect(records.attempts(of: AudienceMember(channel: ChannelID(rawValue: -1))).isEmpty)
            #expect(records.refusal(of: AudienceMember(channel: ChannelID(rawValue: -1))) == nil)
        }
    }

    @Test func aRefusalOfATokenTakesFewBytes() {
        var encoder = PageRecordsEncoder()
        let numbers = RegistrationIDNumbers(first: 1_234_567_890_123_456_789, second: 1_234_567_890_123_456_789)
        for channel in 1...500 {
            encoder.append(
                Refusal(
                    member: AudienceMember(channel: ChannelID(rawValue: Int64(channel) * 20)),
                    handle: PushHandle(String(repeating: "0a", count: 32)), outcome: .expiredChannel,
                    reason: "Unregistered", at: Timestamp(seconds: 1_700_000_000),
                    answer: PushAnswer(origin: "https://api.push.apple.com:443", status: 410, connection: 7)),
                .numbers(numbers), installation: nil)
        }
        // The token and the id are 48 of them; the kind is stored once.
        #expect(encoder.encoded().count < 100 + 500 * 54)
    }

    @Test func whatIsCutOffOrChangedIsRefusedOrReadWithoutACrash() {
        var random = SeededGenerator(seed: 5)
        let bytes = Sample(40, using: &random).bytes
        for end in bytes.indices { #expect(PageRecords(Array(bytes[..<end])) == nil) }
        #expect(PageRecords(bytes + [0]) == nil)
        for _ in 0..<20_000 {
            var changed = bytes
            for _ in 0...Int.random(in: 0...2, using: &random) {
                changed[Int.random(in: changed.indices, using: &random)] = UInt8(truncatingIfNeeded: random.next())
            }
            guard let records = PageRecords(changed) else { continue }
            for index in 0..<records.refusalCount { _ = records.recordedRefusal(index) }
            for index in 0..<records.attemptCount { _ = records.attempts(of: records.member(ofAttempt: index)) }
        }
    }

    @Test func valuesThatNobodyWritesAreRefused() {
        let empty: [UInt8] = [1, 0, 0, 0]
        #expect(PageRecords(empty)?.refusalCount == 0)
        for bytes: [UInt8] in [
            [], [2, 0, 0, 0], [1, 0x80, 0, 0, 0],
            // A kind too few, a refusal of the member before, and more entries than there may be.
            [1, 0, 1, 0, 1, 0, 0, 0], [1, 1, 0, 0, 0, 0, 2, 0, 1, 0, 0, 0, 0, 0, 0, 0], [1, 0, 0x81, 0x10],
            // Flags of a refusal on an attempt, digits without a handle, a status without an origin.
            [1, 1, 0, 0, 0, 0, 0, 1, 4, 1, 0, 0, 0], [1, 1, 0, 0, 0, 0, 1, 8, 1, 0, 0, 0],
            [1, 1, 2, 0, 0, 0, 0, 0, 0],
        ] {
            #expect(PageRecords(bytes) == nil)
        }
        #expect(PageRecords([1, 1, 0, 0, 0, 0, 2, 0, 1, 0, 0, 0, 1, 0, 0, 0])?.refusalCount == 2)
    }
}
