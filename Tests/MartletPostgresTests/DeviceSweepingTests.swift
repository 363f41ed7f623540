import MartletCore
import MartletModel
import MartletTesting
import Testing

@testable import MartletPostgres

@Suite(.enabled(if: TestDatabase.isThere, "there is no PostgreSQL"))
struct DeviceSweepingTests {
    private let now = Timestamp(seconds: 1_700_000_000)
    private let pigeon = PlatformID(rawValue: "pigeon")

    private func withHub(_ work: (PostgresStorage, Hub.ID) async throws -> Void) async throws {
        try await TestDatabase.with { storage in
            try await work(
                storage, try #require(try await storage.createHub(name: "loft", settings: HubSettings(), at: now)).id)
        }
    }

    private func put(
        _ id: String, expiresIn seconds: Int? = nil, in hub: Hub.ID, of storage: PostgresStorage
    ) async throws {
        let draft = RegistrationDraft(
            platform: pigeon, handle: PushHandle("h\(id)"), handleKey: "h\(id)", tags: [], template: nil,
            pushVariables: [:], expiresAt: seconds.map { now + .seconds($0) }, takesHandle: false)
        _ = try await storage.apply(.put(draft, id: id, condition: .none), in: hub, at: now).get()
    }

    private func remove(_ id: String, in hub: Hub.ID, of storage: PostgresStorage) async throws {
        _ = try await storage.apply(RegistrationChange.delete(id: id, condition: .none), in: hub, at: now).get()
    }

    private func count(_ table: String, in storage: PostgresStorage) async throws -> Int64 {
        try await storage.read(Batch(.rare([], "SELECT count(*) FROM \(table)")))[0][0].integer(0)
    }

    @Test func expiredRegistrationsAndInstallationsGoWithTheirHistory() async throws {
        try await withHub { storage, hub in
            try await put("1", expiresIn: 60, in: hub, of: storage)
            try await put("2", in: hub, of: storage)
            let row = InstallationRow(
                slot: "",
                registration: RegistrationDraft(
                    platform: pigeon, handle: PushHandle("i"), handleKey: "i", tags: []))
            let installation = InstallationDraft(
                id: "i", document: Array("{}".utf8), expiresAt: now + .seconds(60), rows: [row])
            _ = try await storage.apply(.put(installation, condition: .none), in: hub, at: now).get()
            try await storage.sweep(at: now + .seconds(59))
            #expect(try await count("registrations", in: storage) == 3)
            try await storage.sweep(at: now + .seconds(60))
            #expect(try await count("registrations", in: storage) == 1)
            #expect(try await count("installations", in: storage) == 0)
            #expect(try await storage.past(of: "1", in: hub).versions.map(\.end?.cause) == [.expired])
            try await storage.sweep(at: now + .seconds(40 * 86_400))
            #expect(try await storage.past(of: "1", in: hub).versions.isEmpty)
            #expect(try await count("former_channels", in: storage) == 0)
        }
    }

    @Test func surplusHistoryAndOldIdsOfRemovedRegistrationsGo() async throws {
        try await withHub { storage, hub in
            for number in 1...4 {
                try await put("\(number)", in: hub, of: storage)
                try await remove("\(number)", in: hub, of: storage)
            }
            try await storage.sweep(at: now, keeping: Retention(historyLimit: 2))
            #expect(try await count("registration_history", in: storage) == 2)
            #expect(try await storage.past(of: "4", in: hub).knownSince == 2)
            #expect(try await count("tombstones", in: storage) == 4)
            try await storage.sweep(at: now + .seconds(90 * 86_400))
            #expect(try await count("tombstones", in: storage) == 0)
        }
    }

    @Test func theFormerStatesThatALongNotificationNeedsAreKeptAsLongAsItIs() async throws {
        try await withHub { storage, hub in
            try await put("1", in: hub, of: storage)
            try await put("2", in: hub, of: storage)
            let end = now + .seconds(28 * 86_400)
            let draft = NotificationDraft(
                id: NotificationID(at: now), hub: hub, content: .native(pigeon, Message(body: [1])),
                target: .audience(nil), acceptedAt: now, expiresAt: end)
            guard case .accepted(_, let deliveries) = try await storage.accept(draft) else {
                Issue.record("the notification was not accepted")
                return
            }
            _ = try await storage.apply(
                RegistrationChange.delete(id: "1", condition: .none), in: hub, at: now + .seconds(60)
            ).get()
            try await storage.sweep(at: now + .seconds(40 * 86_400))
            #expect(try await storage.past(of: "1", in: hub).versions.count == 1, "the notification is unfinished")
            var step = DeliveryStep(
                delivery: deliveries[0].id, isFannedOut: true, state: .completed, counts: [.success: 1])
            step.endedAt = end
            #expect(try await storage.record(step))
            try await storage.sweep(at: end + .seconds(30 * 86_400 - 1))
            #expect(try await storage.past(of: "1", in: hub).versions.count == 1, "the notification can be traced")
            for _ in 0..<2 { try await storage.sweep(at: end + .seconds(30 * 86_400)) }
            #expect(try await storage.past(of: "1", in: hub).versions.isEmpty)
        }
    }

    @Test func aHubWhoseRemovalWasInterruptedIsRemovedByTheNextSweep() async throws {
        try await withHub { storage, hub in
            try await put("1", in: hub, of: storage)
            try await storage.transaction { connection, patience throws(DatabaseFailure) in
                var batch = Batch(HubStatements.deleting) { $0.add(hub.rawValue) }
                batch.add(HubStatements.removeShard) { $0.add(Shard(hub).number) }
                _ = try connection.run(batch, patience)
            }
            try await storage.sweep(at: now)
            #expect(try await count("registrations", in: storage) == 0)
            #expect(try await count("hubs", in: storage) == 0)
        }
    }
}
