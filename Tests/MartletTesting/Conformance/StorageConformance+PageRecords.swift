import MartletCore
import MartletModel

extension StorageConformance {
    /// A store may record the outcomes of a page in another form than the outcomes of retries.
    static let pageRecords: [Requirement] = [
        Requirement("Refusals and attempts give the same answers, whether a page or a retry has recorded them") {
            bench in
            var random = SeededGenerator(seed: 2_026_1126)
            for size in [3, 40, 1_500] {
                let course = RandomCourse(bench, pageSize: size, using: &random)
                let hub = try await bench.hub("hub\(size)")
                for number in 1...20 { try await bench.put("\(number)", "h\(number)", in: hub) }
                let pages = try await course.record(in: hub, withRanges: true)
                let rows = try await course.record(in: hub, withRanges: false)
                try await course.compare(pages, rows, in: hub)
            }
        },
        Requirement("A page that is recorded again replaces what it has recorded") { bench in
            let hub = try await bench.hub()
            for number in 1...4 { try await bench.put("\(number)", "h\(number)", in: hub) }
            let delivery = try await bench.accept(hub)
            let members = try await bench.audience(hub).members
            for (outcome, count) in [(OutcomeName.badChannel, 4), (.wrongToken, 3)] {
                try await bench.storage.record(
                    DeliveryStep(
                        delivery: delivery.id, isFannedOut: true, state: .processing,
                        refusals: members.prefix(count).map {
                            Refusal(
                                member: $0, handle: PushHandle("00ff"), outcome: outcome, reason: "x", at: bench.now)
                        }, range: bench.range(members[3])))
            }
            let page = try await bench.storage.refusals(
                of: delivery.notification.id, in: hub, after: .start, limit: 10)
            try require(page.records.map(\.outcome), is: [.wrongToken, .wrongToken, .wrongToken, .badChannel])
            let evidence = try require(try await bench.storage.evidence(of: members, in: delivery.id))
            try require(members.map { evidence.members[$0]?.refusal?.outcome }, is: page.records.map(\.outcome))
            let funnel = try await bench.storage.funnelEvidence(of: delivery.notification.id, in: hub)
            try require(funnel.platforms[bench.platform]?.failed ?? 0, is: 0)
        },
        Requirement("A handle that was registered again since it was called dead is recorded as kept") { bench in
            let hub = try await bench.hub()
            for id in ["one", "two"] { try await bench.put(id, id == "one" ? "00ff" : "00fe", in: hub) }
            for isPage in [true, false] {
                let delivery = try await bench.accept(hub)
                let members = try await bench.audience(hub).members
                let refusals = zip(members, [-3600, 0]).map { member, seconds in
                    var refusal = Refusal(
                        member: member, handle: PushHandle("00ff"), outcome: .expiredChannel, reason: "Unregistered",
                        at: bench.now, answer: PushAnswer(origin: "https://a", status: 410), fate: .removed)
                    refusal.goneSince = bench.now + .seconds(seconds)
                    return refusal
                }
                var step = DeliveryStep(
                    delivery: delivery.id, isFannedOut: true, state: .completed, endedAt: bench.now,
                    refusals: refusals)
                if isPage { step.range = bench.range(members[1]) }
                try await bench.storage.record(step)
                let page = try await bench.storage.refusals(
                    of: delivery.notification.id, in: hub, after: .start, limit: 9)
                try require(page.records.map(\.fate), is: [.kept, .removed])
                let evidence = try require(try await bench.storage.evidence(of: members, in: delivery.id))
                try require(members.map { evidence.members[$0]?.refusal?.fate }, is: [.kept, .removed])
            }
        },
        Requirement("A refusal of a page keeps the ids of its registration, which may be gone") { bench in
            let hub = try await bench.hub()
            try await bench.put("one", "00ff", in: hub)
            let delivery = try await bench.accept(hub)
            let members = try await bench.audience(hub).members
            try await bench.storage.record(
                DeliveryStep(
                    delivery: delivery.id, isFannedOut: true, state: .completed, endedAt: bench.now,
                    refusals: [
                        Refusal(
                            member: members[0], handle: PushHandle("00ff"), outcome: .expiredChannel,
                            reason: "Unregistered", at: bench.now, attempts: 2,
                            answer: PushAnswer(origin: "https://a", status: 410), fate: .removed)
                    ], range: bench.range(members[0])))
            _ = try await bench.storage.apply(
                [ChannelFeedback(channel: members[0].channel, kind: .gone(asOf: nil))], in: hub, at: bench.now)
            let page = try await bench.storage.refusals(
                of: delivery.notification.id, in: hub, after: .start, limit: 1)
            try require(page.records.map(\.registration), is: ["one"])
            try require(page.records.map(\.handle), is: [PushHandle("00ff")])
            try require(page.records.map(\.status), is: [410])
            try require(page.records.map(\.fate), is: [.removed])
            try require(page.next, is: nil)
            try require(
                try await bench.storage.refused(in: hub, after: nil, limit: 9), is: [delivery.notification.id])
        },
    ]
}

/// Random steps of a delivery: first pages with refusals and attempts, then rounds of retries.
private struct RandomCourse {
    private let bench: StorageBench
    private var pages: [DeliveryStep] = []
    private var rounds: [DeliveryStep] = []
    private var members: [AudienceMember] = []

    init(_ bench: StorageBench, pageSize: Int, using random: inout SeededGenerator) {
        self.bench = bench
        var channel: Int64 = 0
        for _ in 0..<5 {
            let page = (0..<pageSize).map { _ in
                channel += Int64.random(in: 1...3, using: &random)
                return AudienceMember(channel: ChannelID(rawValue: channel))
            }
            members += page
            var step = step(range: bench.range(page[page.count - 1]))
            for member in page.shuffled(using: &random) {
                switch Int.random(in: 0...5, using: &random) {
                case 0, 1: step.refusals.append(refusal(of: member, using: &random))
                case 2:
                    step.attempts.append(attempt(of: member, 1, using: &random))
                    step.refusals.append(refusal(of: member, using: &random))
                case 3, 4: step.attempts.append(attempt(of: member, 1, using: &random))
                default: break
                }
                if Int.random(in: 0...9, using: &random) == 0 {
                    step.retries.append(
                        Retry(member: member, attempts: 1, dueAt: bench.now, outcome: .throttled, reason: ""))
                }
            }
            pages.append(step)
        }
        for number in 2...4 {
            var step = step(range: nil)
            for member in members.shuffled(using: &random).prefix(members.count / 4) {
                if Bool.random(using: &random) {
                    step.refusals.append(refusal(of: member, using: &random))
                } else {
                    step.attempts.append(attempt(of: member, number, using: &random))
                }
            }
            rounds.append(step)
        }
    }

    private func step(range: RangeRecord?) -> DeliveryStep {
        DeliveryStep(delivery: .none, isFannedOut: true, state: .processing, range: range)
    }

    private func refusal(of member: AudienceMember, using random: inout SeededGenerator) -> Refusal {
        let isAnswered = Bool.random(using: &random)
        let handles = [nil, PushHandle("00ff\(member.channel.rawValue % 10)0"), PushHandle("h\(member.number)")]
        return Refusal(
            member: member, handle: handles.randomElement(using: &random) ?? nil,
            outcome: [.abandoned, .badChannel, .expiredChannel].randomElement(using: &random) ?? .dropped,
            reason: ["Gone", "Late", ""].randomElement(using: &random) ?? "",
            at: bench.now + .milliseconds(Int64.random(in: 0...9999, using: &random)),
            attempts: Int.random(in: 0...1, using: &random),
            answer: isAnswered
                ? PushAnswer(origin: "https://a", status: 410, connection: Int.random(in: 1...4, using: &random)) : nil,
            fate: [.kept, .removed].randomElement(using: &random) ?? .kept)
    }

    private func attempt(
        of member: AudienceMember, _ number: Int, using random: inout SeededGenerator
    ) -> Attempt {
        Attempt(
            member: member, number: number,
            outcome: [.throttled, .superseded, .success].randomElement(using: &random) ?? .throttled, reason: "Storm",
            answer: nil, at: bench.now + .seconds(Int64.random(in: -1...3, using: &random)))
    }

    func record(in hub: Hub.ID, withRanges: Bool) async throws -> Delivery {
        let delivery = try await bench.accept(hub)
        for var step in pages + rounds {
            step.delivery = delivery.id
            if !withRanges { step.range = nil }
            try await bench.storage.record(step)
        }
        try await bench.storage.record(
            DeliveryStep(delivery: delivery.id, isFannedOut: true, state: .completed, endedAt: bench.now))
        return delivery
    }

    func compare(_ first: Delivery, _ second: Delivery, in hub: Hub.ID) async throws {
        for limit in [7, 500, 9_000] {
            let (one, other) = (
                try await refusals(of: first, in: hub, limit: limit),
                try await refusals(of: second, in: hub, limit: 600)
            )
            try require(one, is: other)
        }
        let evidence = (
            try require(try await bench.storage.evidence(of: members, in: first.id)),
            try require(try await bench.storage.evidence(of: members, in: second.id))
        )
        for member in members {
            let (one, other) = (evidence.0.members[member], evidence.1.members[member])
            try require(one?.attempts, is: other?.attempts)
            try require(one?.refusal, is: other?.refusal)
        }
        let funnels = (
            try await bench.storage.funnelEvidence(of: first.notification.id, in: hub),
            try await bench.storage.funnelEvidence(of: second.notification.id, in: hub)
        )
        try require(funnels.0.platforms[bench.platform], is: funnels.1.platforms[bench.platform])
        for outcome in [OutcomeName.badChannel, nil] {
            let resends = (try await bench.resent(first, outcome), try await bench.resent(second, outcome))
            try require(try await letters(of: resends.0, limit: 7), is: try await letters(of: resends.1, limit: 999))
        }
    }

    private func refusals(of delivery: Delivery, in hub: Hub.ID, limit: Int) async throws -> [RefusalRecord] {
        var (records, position) = ([RefusalRecord](), RefusalPosition.start)
        while true {
            let page = try await bench.storage.refusals(
                of: delivery.notification.id, in: hub, after: position, limit: limit)
            try require(page.records.count <= limit, is: true)
            records += page.records
            guard let next = page.next else { return records }
            position = next
        }
    }

    private func letters(of resend: Delivery, limit: Int) async throws -> [AudienceMember] {
        var (members, last) = ([AudienceMember](), AudienceMember.none)
        while true {
            let page = try await bench.storage.resendMembers(of: resend, after: last, limit: limit)
            members += page.members
            if page.isLast { return members }
            last = page.last
        }
    }
}

extension StorageBench {
    fileprivate func range(_ last: AudienceMember) -> RangeRecord {
        RangeRecord(last: last, snapshot: AudienceSnapshot(change: 1, registration: 1), startedAt: now, endedAt: now)
    }
}
