import MartletCore
import MartletModel

extension StorageConformance {
    static let notifications: [Requirement] = [
        Requirement("An accepted notification is unfinished and comes back as it was") { bench in
            let hub = try await bench.hub()
            let expression = try TagExpression("(a || B) && !c")
            let message = Message(body: [0, 255, 10], fields: ["x-a": "1, \"2\"", "x-b": ""])
            let accepted = try await bench.accept(hub, to: .audience(expression), message: message)
            let open = try require(try await bench.storage.unfinished(after: 0, limit: 10).first)
            try require(open.state, is: .enqueued)
            try require(open.cursor, is: .none)
            try require(open.isFannedOut, is: false)
            let report = try require(try await bench.storage.report(accepted.id, in: hub))
            for notification in [open.notification, report.notification] {
                try require(notification.sequence, is: accepted.sequence)
                try require(notification.id, is: accepted.id)
                try require(notification.hub, is: hub)
                try require(notification.platform, is: bench.platform)
                try require(notification.message.body, is: message.body)
                try require(notification.message.fields, is: message.fields)
                try require(notification.acceptedAt, is: bench.now)
                try require(notification.expiresAt, is: bench.now + .seconds(60))
                guard case .audience(let stored) = notification.target else {
                    throw ConformanceFailure(description: "the target has changed its kind")
                }
                try require(stored, is: expression)
            }
        },
        Requirement("A direct send keeps its handle and reaches no channel") { bench in
            let hub = try await bench.hub()
            try await bench.put("1", "a", in: hub)
            let accepted = try await bench.accept(hub, to: .direct(PushHandle("p", "q")))
            try require(accepted.lastChannel, is: .none)
            let open = try require(try await bench.storage.unfinished(after: 0, limit: 10).first)
            guard case .direct(let handle) = open.notification.target else {
                throw ConformanceFailure(description: "the target has changed its kind")
            }
            try require(handle, is: PushHandle("p", "q"))
        },
        Requirement("Sequence numbers count up, and the unfinished are read in their order and in pages") { bench in
            let hub = try await bench.hub()
            var sequences: [Int64] = []
            for _ in 0..<5 { sequences.append(try await bench.accept(hub).sequence) }
            try require(sequences, is: sequences.sorted())
            let page = try await bench.storage.unfinished(after: sequences[1], limit: 2)
            try require(page.map(\.notification.sequence), is: Array(sequences[2...3]))
        },
        Requirement("Another hub has no report of it") { bench in
            let (hub, other) = (try await bench.hub("one"), try await bench.hub("two"))
            let accepted = try await bench.accept(hub)
            try require(try await bench.storage.report(accepted.id, in: other) == nil, is: true)
            let unknown = NotificationID(at: bench.now)
            try require(try await bench.storage.report(unknown, in: hub) == nil, is: true)
        },
    ]

    static let deliveries: [Requirement] = [
        Requirement("Steps move the cursor, add up counts and keep the first start") { bench in
            let hub = try await bench.hub()
            let accepted = try await bench.accept(hub)
            try await bench.storage.record(
                DeliveryStep(
                    notification: accepted.sequence, cursor: ChannelID(rawValue: 7), isFannedOut: false,
                    state: .processing, startedAt: bench.now, counts: [.success: 2, .badChannel: 1]))
            try await bench.storage.record(
                DeliveryStep(
                    notification: accepted.sequence, isFannedOut: true, state: .processing,
                    startedAt: bench.now + .seconds(9), counts: [.success: 3]))
            let open = try require(try await bench.storage.unfinished(after: 0, limit: 10).first)
            try require(open.cursor, is: ChannelID(rawValue: 7))
            try require(open.isFannedOut, is: true)
            try require(open.state, is: .processing)
            let report = try require(try await bench.storage.report(accepted.id, in: hub))
            try require(report.counts, is: [.success: 5, .badChannel: 1])
            try require(report.startedAt, is: bench.now)
            try require(report.endedAt, is: nil)
        },
        Requirement("What is final is not unfinished, and is reported") { bench in
            let hub = try await bench.hub()
            let accepted = try await bench.accept(hub)
            try await bench.storage.record(
                DeliveryStep(
                    notification: accepted.sequence, isFannedOut: true, state: .completed, startedAt: bench.now,
                    endedAt: bench.now + .seconds(1)))
            try require(try await bench.unfinished(), is: [])
            let report = try require(try await bench.storage.report(accepted.id, in: hub))
            try require(report.state, is: .completed)
            try require(report.endedAt, is: bench.now + .seconds(1))
        },
        Requirement("Retries are due in their order, replaced by channel, and end when settled") { bench in
            let hub = try await bench.hub()
            let sequence = try await bench.accept(hub).sequence
            func step(_ retries: [Retry], settled: [Int64] = []) async throws {
                try await bench.storage.record(
                    DeliveryStep(
                        notification: sequence, isFannedOut: true, state: .processing, retries: retries,
                        settled: settled.map { ChannelID(rawValue: $0) }))
            }
            func due(_ seconds: Int64, limit: Int = 10) async throws -> [Int64] {
                try await bench.storage.retries(of: sequence, due: bench.now + .seconds(seconds), limit: limit)
                    .map(\.channel.rawValue)
            }
            try require(try await bench.storage.nextRetry(of: sequence), is: nil)
            try await step([bench.retry(1, dueIn: 30), bench.retry(2, dueIn: 10), bench.retry(3, dueIn: 20)])
            try require(try await bench.storage.nextRetry(of: sequence), is: bench.now + .seconds(10))
            try require(try await due(9), is: [])
            try require(try await due(20), is: [2, 3])
            try require(try await due(100, limit: 1), is: [2])
            try await step([bench.retry(2, dueIn: 40, attempts: 2)], settled: [2, 3])
            let left = try await bench.storage.retries(of: sequence, due: .distantFuture, limit: .max)
            try require(left.map(\.channel.rawValue), is: [1, 2])
            try require(left.map(\.attempts), is: [1, 2])
            try require(left.map(\.outcome), is: [.throttled, .throttled])
            try require(left.map(\.reason), is: ["Storm", "Storm"])
        },
        Requirement("Retries of one notification are nothing to another") { bench in
            let hub = try await bench.hub()
            let (first, second) = (try await bench.accept(hub).sequence, try await bench.accept(hub).sequence)
            for sequence in [first, second] {
                try await bench.storage.record(
                    DeliveryStep(
                        notification: sequence, isFannedOut: true, state: .processing,
                        retries: [bench.retry(1, dueIn: sequence)]))
            }
            try await bench.storage.record(
                DeliveryStep(
                    notification: first, isFannedOut: true, state: .processing, settled: [ChannelID(rawValue: 1)]))
            try require(try await bench.storage.nextRetry(of: first), is: nil)
            try require(try await bench.storage.nextRetry(of: second), is: bench.now + .seconds(second))
        },
        Requirement("A step of a notification that is gone with its hub does nothing") { bench in
            let hub = try await bench.hub()
            let accepted = try await bench.accept(hub)
            _ = try await bench.storage.deleteHub(hub)
            try await bench.storage.record(
                DeliveryStep(
                    notification: accepted.sequence, isFannedOut: true, state: .processing, counts: [.success: 1],
                    refusals: [
                        Refusal(channel: ChannelID(rawValue: 1), outcome: .badChannel, reason: "x", at: bench.now)
                    ], retries: [bench.retry(1, dueIn: 1)]))
            try require(try await bench.storage.nextRetry(of: accepted.sequence), is: nil)
            try require(try await bench.unfinished(), is: [])
        },
    ]
}
