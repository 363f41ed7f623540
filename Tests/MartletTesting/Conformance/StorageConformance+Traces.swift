import MartletCore
import MartletModel

extension StorageConformance {
    static let traces: [Requirement] = [
        Requirement("A notification is found with how far its deliveries have come") { bench in
            let (hub, other) = (try await bench.hub("one"), try await bench.hub("two"))
            var draft = bench.notificationDraft(hub, dueIn: 10)
            draft.isConfidential = true
            let id = try await bench.accepted(draft).notification.id
            let waiting = try require(try await bench.storage.traced(id, in: hub))
            try require(waiting.notification.isConfidential, is: true)
            try require(waiting.begunAt, is: nil)
            try require(waiting.deliveries.count, is: 0)
            let begun = bench.now + .seconds(11)
            let delivery = try require(try await bench.storage.release(due: begun, limit: 1).deliveries.first)
            try require(delivery.notification.isConfidential, is: true)
            let member = bench.member(3)
            try await bench.storage.record(
                DeliveryStep(delivery: delivery.id, cursor: member, isFannedOut: false, state: .processing))
            let traced = try require(try await bench.storage.traced(id, in: hub))
            try require(traced.begunAt, is: begun)
            try require(traced.deliveries.map(\.cursor), is: [member])
            try require(traced.deliveries.map(\.delivery.id), is: [delivery.id])
            try require(try await bench.storage.traced(id, in: other) == nil, is: true)
            let canceled = try await bench.accepted(bench.notificationDraft(hub, dueIn: 10)).notification
            _ = try await bench.storage.cancel(canceled.id, in: hub, at: bench.now)
            try require(try await bench.storage.traced(canceled.id, in: hub)?.canceledAt, is: bench.now)
            try require(canceled.isConfidential, is: false)
        },
        Requirement("A member has the range of its page, also where it is not in the audience") { bench in
            let hub = try await bench.hub()
            let delivery = try await bench.accept(hub)
            func range(_ last: AudienceMember, _ change: Int64) -> RangeRecord {
                RangeRecord(
                    last: last, snapshot: AudienceSnapshot(change: change, registration: change + 1),
                    startedAt: bench.now, endedAt: bench.now + .seconds(change), counts: [.success: 2, .skipped: 1],
                    reasons: [.skipped: "No, \"never\""], origins: ["https://a.example:443", "https://b.example:443"])
            }
            let ranges = [range(bench.member(4), 1), range(bench.member(9), 2), range(.end, 3)]
            for range in ranges.prefix(2) {
                try await bench.storage.record(
                    DeliveryStep(
                        delivery: delivery.id, cursor: range.last, isFannedOut: false, state: .processing, range: range)
                )
            }
            let members = [1, 4, 5, 9, 10].map { bench.member($0) }
            let found = try require(try await bench.storage.evidence(of: members, in: delivery.id))
            try require(members.map { found.members[$0]?.range?.snapshot.change }, is: [1, 1, 2, 2, nil])
            try require(found.members[members[2]]?.range, is: ranges[1])
            try require(found.progress.cursor, is: bench.member(9))
            try await bench.storage.record(
                DeliveryStep(delivery: delivery.id, isFannedOut: true, state: .processing, range: ranges[2]))
            let last = try await bench.storage.evidence(of: [bench.member(10)], in: delivery.id)
            try require(last?.members[bench.member(10)]?.range, is: ranges[2])
            try require(try await bench.storage.evidence(of: [], in: Delivery.ID(rawValue: 999)) == nil, is: true)
        },
        Requirement("The history of a member is kept: attempts, a refusal, a retry, and whether it was reached") {
            bench in
            let hub = try await bench.hub()
            let delivery = try await bench.accept(hub)
            let template = AudienceMember(channel: ChannelID(rawValue: 1), registration: 70_000)
            let answer = PushAnswer(origin: "https://a.example:443", status: 503, connection: 7)
            let attempts = (1...3).map { number in
                Attempt(
                    member: template, number: number, outcome: number == 3 ? .success : .pnsUnavailable,
                    reason: number == 3 ? "" : "Storm", answer: number == 2 ? nil : answer,
                    at: bench.now + .seconds(Int64(number)), fate: number == 3 ? .moved : .kept)
            }
            let refusal = Refusal(
                member: bench.member(2), handle: PushHandle("h"), outcome: .badChannel, reason: "Gone",
                at: bench.now, attempts: 4,
                answer: PushAnswer(origin: "https://b.example:443", status: nil, connection: 8), fate: .quarantined)
            try await bench.storage.record(
                DeliveryStep(
                    delivery: delivery.id, isFannedOut: true, state: .processing, refusals: [refusal],
                    retries: [bench.retry(3, dueIn: 5)], attempts: [attempts[0]]))
            for attempt in attempts.dropFirst() {
                try await bench.storage.record(
                    DeliveryStep(delivery: delivery.id, isFannedOut: true, state: .processing, attempts: [attempt]))
            }
            let members = [template, bench.member(2), bench.member(3), bench.member(70_001)]
            let open = try require(try await bench.storage.evidence(of: members, in: delivery.id))
            try require(open.members[template]?.attempts, is: attempts)
            try require(open.members[template]?.isReached, is: false)
            let found = try require(open.members[bench.member(2)]?.refusal)
            try require(found.answer, is: refusal.answer)
            try require(found.fate, is: .quarantined)
            try require(found.attempts, is: 4)
            try require(found.handle, is: PushHandle("h"))
            try require(open.members[bench.member(3)]?.retry?.dueAt, is: bench.now + .seconds(5))
            try await bench.storage.record(
                DeliveryStep(
                    delivery: delivery.id, isFannedOut: true, state: .completed, endedAt: bench.now,
                    settled: [bench.member(3)], reached: DeliveredBitmap.blocks(of: [3, 70_000])))
            let final = try require(try await bench.storage.evidence(of: members, in: delivery.id))
            try require(members.map { final.members[$0]?.isReached }, is: [true, false, true, false])
            try require(final.members[bench.member(3)]?.retry == nil, is: true)
            try require(final.progress.state, is: .completed)
        },
        Requirement("What a running delivery has reached is kept with its steps and between them, where nodes share it")
        {
            bench in
            guard let store = bench.storage.reachedStore else { return }
            let delivery = try await bench.accept(try await bench.hub())
            let map = MemoryProgressMaps().map(for: delivery.id)
            func expectReached(_ numbers: [Int64]) async throws {
                try require(try await store.reached(by: delivery.id), is: DeliveredBitmap.blocks(of: numbers))
                let members = [3, 4, 70_000].map { bench.member($0) }
                let found = try require(try await bench.storage.evidence(of: members, in: delivery.id))
                try require(
                    members.filter { found.members[$0]?.isReached ?? false }.map(\.number), is: numbers)
                let progress = try require(try await bench.storage.unfinished(after: .none, limit: 1).first)
                try require(progress.hasReached, is: !numbers.isEmpty)
            }
            try await expectReached([])
            map.insert(bench.member(3))
            try require(try await store.record(ReachedBlocks([0, 1], of: map), of: delivery.id), is: true)
            try await expectReached([3])
            var step = DeliveryStep(
                delivery: delivery.id, cursor: bench.member(70_000), isFannedOut: true, state: .processing)
            step.newlyReached = ReachedBlocks([0, 1], of: map)
            // What is reached before the step is written is written with it.
            map.insert(bench.member(4))
            map.insert(bench.member(70_000))
            try await bench.storage.record(step)
            try await expectReached([3, 4, 70_000])
        },
    ]
}

extension StorageBench {
    fileprivate func member(_ channel: Int64) -> AudienceMember {
        AudienceMember(channel: ChannelID(rawValue: channel))
    }
}
