import MartletCore
import MartletModel
import Testing

@testable import MartletPostgres

/// What is left of payloads that are over, or never came to be: nothing.
@Suite(.enabled(if: TestDatabase.isThere, "there is no PostgreSQL"))
struct PayloadSweepingTests {
    private let now = Timestamp(seconds: 1_700_000_000)

    private static let tables = ["payloads", "payload_texts", "payload_totals", "addressees", "payload_receipts"]

    private func draft(_ content: StoredPayload.Content = .text([1])) -> PayloadDraft {
        PayloadDraft(kind: .rich, sender: "alice", content: content, createdAt: now, expiresAt: now + .seconds(60))
    }

    private func send(
        _ draft: PayloadDraft, to users: [String], with storage: PostgresStorage
    ) async throws -> PayloadID {
        guard case .added(let id) = try await storage.addPayload(draft, quota: .max) else {
            throw StorageError(.unavailable, "a payload without a quota was not added")
        }
        try await storage.addAddressees(users, of: id)
        try await storage.publish(id)
        return id
    }

    private func count(_ table: String, in storage: PostgresStorage) async throws -> Int64 {
        try await storage.read(Batch(.rare([], "SELECT count(*) FROM \(table)")))[0][0].integer(0)
    }

    @Test func aPayloadOfManyGoesInPortionsWithItsReceiptsAndItsBody() async throws {
        try await TestDatabase.with { storage in
            let users = (0..<2500).map { "user\($0)" }
            let id = try await send(draft(.body(name: "b", size: 7)), to: users, with: storage)
            let hub = try #require(try await storage.createHub(name: "loft", settings: HubSettings(), at: now)).id
            let source = ReceiptSource(hub: hub, device: "1", user: "user7", tag: try Tag("x"))
            let receipt = Receipt(subject: .payload(id), event: .opened, at: now + .seconds(5))
            try await storage.addPayloadReceipts([receipt, receipt], from: source, at: now)
            let stored = try await storage.payloadReceipts(of: id, after: nil, limit: 9)
            #expect(stored == [DeviceReceipt(device: "1", user: "user7", event: .opened, at: now)])
            var bodies: [String] = []
            try await storage.sweepNamespace(at: now + .seconds(59)) { bodies.append($0) }
            #expect(bodies.isEmpty)
            #expect(try await storage.payload(id, for: "user3", at: now) != nil)
            try await storage.sweepNamespace(at: now + .seconds(60)) { bodies.append($0) }
            #expect(bodies == ["b"])
            for table in Self.tables { #expect(try await count(table, in: storage) == 0, "\(table)") }
        }
    }

    @Test func aBodyThatCannotBeRemovedHoldsUpNothingAndIsTriedAgain() async throws {
        try await TestDatabase.with { storage in
            _ = try await send(draft(.body(name: "b", size: 7)), to: ["bob"], with: storage)
            _ = try await send(draft(), to: ["bob"], with: storage)
            await #expect(throws: StorageError.self) {
                try await storage.sweepNamespace(at: now + .seconds(60)) { _ throws(StorageError) in
                    throw StorageError(.unavailable, "the disk is away")
                }
            }
            #expect(try await count("payloads", in: storage) == 1)
            #expect(try await count("payload_texts", in: storage) == 0)
            try await storage.sweepNamespace(at: now + .seconds(60)) { _ in }
            for table in Self.tables { #expect(try await count(table, in: storage) == 0, "\(table)") }
        }
    }

    @Test func unpublishedPayloadsAreRemovedAfterADay() async throws {
        try await TestDatabase.with { storage in
            var draft = draft()
            draft.expiresAt = now + .seconds(30 * 86_400)
            _ = try await storage.addPayload(draft, quota: .max)
            let end = now + .seconds(86_400)
            try await storage.sweepNamespace(at: Timestamp(milliseconds: end.milliseconds - 1)) { _ in }
            #expect(try await count("payloads", in: storage) == 1)
            try await storage.sweepNamespace(at: end) { _ in }
            #expect(try await count("payloads", in: storage) == 0)
        }
    }

    @Test func nodesThatSweepAndSendAtOnceGetInNobodysWay() async throws {
        let options = TestDatabase.fresh()
        try await TestDatabase.with(options) { storage in
            for number in 0..<60 {
                var draft = draft()
                draft.sender = "sender\(number % 5)"
                _ = try await send(draft, to: ["bob"], with: storage)
            }
            let other = try await TestDatabase.open(options)
            try await withThrowingTaskGroup { group in
                for node in [storage, other, storage, other] {
                    group.addTask { try await node.sweepNamespace(at: now + .seconds(60)) { _ in } }
                    group.addTask {
                        for number in 0..<5 {
                            var draft = draft()
                            draft.sender = "sender\(number)"
                            draft.expiresAt = now + .seconds(90)
                            _ = try await node.addPayload(draft, quota: .max)
                        }
                    }
                }
                try await group.waitForAll()
            }
            await other.close()
            #expect(try await count("payloads", in: storage) == 20)
            let size = try await storage.payloadSize(sentBy: "sender3", at: now)
            #expect(size == 4 * (1 + StoredPayload.recordSize))
        }
    }

    @Test func theAuditIsKeptForNinetyDays() async throws {
        try await TestDatabase.with { storage in
            let id = try await send(draft(), to: ["bob"], with: storage)
            _ = try await storage.readPayload(id, for: "bob", at: now, from: "")
            let end = now + .seconds(90 * 86_400)
            try await storage.sweepNamespace(at: Timestamp(milliseconds: end.milliseconds - 1)) { _ in }
            #expect(try await storage.auditEntries(AuditQuery(limit: 9)).count == 1)
            try await storage.sweepNamespace(at: end) { _ in }
            #expect(try await storage.auditEntries(AuditQuery(limit: 9)).isEmpty)
        }
    }

    @Test func manyRefusalsCrowdOutRefusalsAndNoReads() async throws {
        try await TestDatabase.with { storage in
            let id = try await send(draft(), to: ["bob"], with: storage)
            _ = try await storage.readPayload(id, for: "bob", at: now, from: "")
            for number in 1...5 { _ = try await storage.readPayload(id, for: "eve\(number)", at: now, from: "") }
            let retention = Retention(refusalLimit: 2)
            try await storage.sweepNamespace(at: now, keeping: retention) { _ in }
            let left = try await storage.auditEntries(AuditQuery(limit: 9))
            #expect(left.map(\.access.user) == ["bob", "eve4", "eve5"])
        }
    }

    @Test func sessionsAndSendsThatHaveEndedGo() async throws {
        try await TestDatabase.with { storage in
            try await storage.putUser(User(name: "bob", passwordHash: "", createdAt: now))
            for (hash, seconds) in [(1, 10), (2, 100)] as [(UInt8, Int)] {
                try await storage.addSession(
                    Session(tokenHash: [hash], userName: "bob", createdAt: now, expiresAt: now + .seconds(seconds)))
            }
            let request = RequestIdentity(
                key: [UInt8](repeating: 1, count: 32), fingerprint: [UInt8](repeating: 2, count: 32))
            _ = try await storage.addSendRecord(
                SendRecord(request, payloads: [], startedAt: now + (.zero - RequestIdentity.lifetime), isComplete: true)
            )
            try await storage.sweepNamespace(at: now + .seconds(10)) { _ in }
            #expect(try await count("sessions", in: storage) == 1)
            #expect(try await count("sends", in: storage) == 0)
        }
    }
}
