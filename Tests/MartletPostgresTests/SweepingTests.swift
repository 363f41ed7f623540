import MartletCore
import MartletModel
import MartletTesting
import Testing

@testable import MartletPostgres

@Suite(.enabled(if: TestDatabase.isThere, "there is no PostgreSQL"))
struct SweepingTests {
    private let now = Timestamp(seconds: 1_700_000_000)
    private let pigeon = PlatformID(rawValue: "pigeon")

    private func accept(
        in hub: Hub.ID, of storage: PostgresStorage, request: RequestIdentity? = nil
    ) async throws -> (Notification, Delivery) {
        let draft = NotificationDraft(
            id: NotificationID(at: now), hub: hub, content: .native(pigeon, Message(body: [1])),
            target: .audience(nil), acceptedAt: now, expiresAt: now + .seconds(60), request: request)
        guard case .accepted(let notification, let deliveries) = try await storage.accept(draft) else {
            throw StorageError(.corrupt, "It was not accepted.")
        }
        return (notification, try #require(deliveries.first))
    }

    /// Ends a delivery with some refusals.
    private func end(_ delivery: Delivery, refusals: Int, in storage: PostgresStorage) async throws {
        let refusals = (1...refusals).map { number in
            Refusal(
                member: AudienceMember(channel: ChannelID(rawValue: Int64(number))), handle: PushHandle("h\(number)"),
                outcome: .badChannel, reason: "Gone", at: now)
        }
        var step = DeliveryStep(delivery: delivery.id, isFannedOut: true, state: .completed, refusals: refusals)
        (step.startedAt, step.endedAt) = (now, now)
        #expect(try await storage.record(step))
    }

    private func sweep(_ storage: PostgresStorage, limit: Int = 500) async throws -> Int {
        var portions = 1
        while try await storage.sweepNotifications(endedBefore: now, limit: limit) { portions += 1 }
        return portions
    }

    @Test func aNotificationThatIsLongOverGoesInPortions() async throws {
        try await TestDatabase.with { storage in
            let hub = try #require(try await storage.createHub(name: "loft", settings: HubSettings(), at: now)).id
            let (ended, delivery) = try await accept(in: hub, of: storage)
            let (open, _) = try await accept(in: hub, of: storage)
            try await end(delivery, refusals: 25, in: storage)
            #expect(try await storage.refused(in: hub, after: nil, limit: 9) == [ended.id])
            #expect(try await sweep(storage, limit: 10) == 3)
            #expect(try await storage.status(ended.id, in: hub) == nil)
            #expect(try await storage.refused(in: hub, after: nil, limit: 9) == [])
            #expect(try await storage.status(open.id, in: hub)?.report.state == .enqueued)
        }
    }

    @Test func theOriginalOfAResendStaysUntilTheResendIsOver() async throws {
        try await TestDatabase.with { storage in
            let hub = try #require(try await storage.createHub(name: "loft", settings: HubSettings(), at: now)).id
            let (original, delivery) = try await accept(in: hub, of: storage)
            try await end(delivery, refusals: 1, in: storage)
            let draft = ResendDraft(
                id: NotificationID(at: now), hub: hub, original: original.id, outcome: nil, acceptedAt: now,
                expiresAt: now + .seconds(60))
            guard case .accepted(_, let deliveries) = try await storage.resend(draft) else {
                Issue.record("The resend was not accepted.")
                return
            }
            _ = try await sweep(storage)
            #expect(try await storage.status(original.id, in: hub) != nil)
            try await end(try #require(deliveries.first), refusals: 1, in: storage)
            _ = try await sweep(storage)
            #expect(try await storage.status(original.id, in: hub) == nil)
        }
    }

    @Test func aRequestIsForgottenAfterADay() async throws {
        try await TestDatabase.with { storage in
            let hub = try #require(try await storage.createHub(name: "loft", settings: HubSettings(), at: now)).id
            let request = RequestIdentity(
                key: .init(repeating: 1, count: 32), fingerprint: .init(repeating: 2, count: 32))
            _ = try await accept(in: hub, of: storage, request: request)
            let count = Batch(.rare([], "SELECT count(*) FROM requests"))
            #expect(try await storage.sweepRequestsAndPauses(at: now + .seconds(86_399)) == false)
            #expect(try await storage.read(count)[0][0].integer(0) == 1)
            #expect(try await storage.sweepRequestsAndPauses(at: now + .seconds(86_400)) == false)
            #expect(try await storage.read(count)[0][0].integer(0) == 0)
        }
    }
}
