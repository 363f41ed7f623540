import MartletCore
import MartletModel

extension StorageConformance {
    static let funnels: [Requirement] = [
        Requirement("Receipts are unknown in a hub whose devices never sent one, and each device counts once") {
            bench in
            let (hub, id) = try await bench.notified()
            let before = try await bench.storage.funnelEvidence(of: id, in: hub)
            try require(before.platforms.values.allSatisfy { $0.reported.isEmpty }, is: true)
            try await bench.receive(.notification(id), .received, in: hub, at: bench.now)
            try await bench.receive(.notification(id), .received, in: hub, at: bench.now)
            let first = try await bench.storage.funnelEvidence(of: id, in: hub)
            try require(
                first.platforms[bench.platform],
                is: FunnelEvidence.PlatformCounts(received: 1, opened: 0, reported: [.received]))
            try await bench.receive(.notification(id), .opened, in: hub, at: bench.now)
            let second = try await bench.storage.funnelEvidence(of: id, in: hub)
            try require(
                second.platforms[bench.platform],
                is: FunnelEvidence.PlatformCounts(received: 1, opened: 1, reported: [.received, .opened]))
            let later = try await bench.accept(hub)
            let other = try await bench.storage.funnelEvidence(of: later.notification.id, in: hub)
            try require(
                other.platforms[bench.platform], is: FunnelEvidence.PlatformCounts(reported: [.received, .opened]))
            let elsewhere = try await bench.storage.funnelEvidence(of: id, in: try await bench.hub("elsewhere"))
            try require(elsewhere.platforms.isEmpty, is: true)
        },
        Requirement("Pushes that were made and failed are counted, those that were not are not") { bench in
            let hub = try await bench.hub()
            for number in 1...6 { try await bench.put("\(number)", "h\(number)", in: hub) }
            let delivery = try await bench.accept(hub)
            let members = try await bench.audience(hub).members
            func refusal(
                _ index: Int, _ outcome: OutcomeName, handle: PushHandle?, isAnswered: Bool, attempts: Int = 1
            ) -> Refusal {
                Refusal(
                    member: members[index], handle: handle, outcome: outcome, reason: "", at: bench.now,
                    attempts: attempts, answer: isAnswered ? PushAnswer(origin: "https://a", status: 400) : nil)
            }
            try await bench.storage.record(
                DeliveryStep(
                    delivery: delivery.id, isFannedOut: true, state: .completed, endedAt: bench.now,
                    refusals: [
                        refusal(0, .badChannel, handle: PushHandle("a"), isAnswered: true),
                        refusal(1, .abandoned, handle: PushHandle("b"), isAnswered: false),
                        refusal(2, .throttled, handle: nil, isAnswered: false),
                        refusal(3, .invalidNotificationSize, handle: PushHandle("d"), isAnswered: false),
                        refusal(4, .abandoned, handle: PushHandle("e"), isAnswered: false, attempts: 0),
                        refusal(5, .abandoned, handle: PushHandle("f"), isAnswered: false, attempts: 0),
                    ],
                    // Member 5 is counted as failed only because of this attempt: its refusal counts no attempt.
                    attempts: [
                        Attempt(
                            member: members[5], number: 1, outcome: .pnsUnavailable, reason: "", answer: nil,
                            at: bench.now)
                    ]))
            let evidence = try await bench.storage.funnelEvidence(of: delivery.notification.id, in: hub)
            try require(evidence.platforms[bench.platform]?.failed, is: 4)
        },
        Requirement("Only members with a final outcome after an attempt are counted") { bench in
            let hub = try await bench.hub()
            for number in 1...6 { try await bench.put("\(number)", "h\(number)", in: hub) }
            let delivery = try await bench.accept(hub)
            let members = try await bench.audience(hub).members
            func attempt(_ index: Int, _ number: Int, _ outcome: OutcomeName) -> Attempt {
                Attempt(
                    member: members[index], number: number, outcome: outcome, reason: "", answer: nil, at: bench.now)
            }
            try await bench.storage.record(
                DeliveryStep(
                    delivery: delivery.id, isFannedOut: true, state: .processing,
                    refusals: [
                        Refusal(
                            member: members[2], handle: PushHandle("c"), outcome: .badChannel, reason: "", at: bench.now
                        )
                    ],
                    retries: [
                        Retry(
                            member: members[3], attempts: 1, dueAt: bench.now + .seconds(9), outcome: .throttled,
                            reason: "")
                    ],
                    attempts: [
                        attempt(0, 1, .throttled), attempt(0, 2, .superseded), attempt(1, 1, .throttled),
                        attempt(1, 2, .success), attempt(2, 1, .throttled), attempt(3, 1, .throttled),
                        attempt(4, 1, .superseded),
                    ]))
            let evidence = try await bench.storage.funnelEvidence(of: delivery.notification.id, in: hub)
            try require(evidence.platforms[bench.platform]?.stopped, is: 1)
        },
    ]
}
