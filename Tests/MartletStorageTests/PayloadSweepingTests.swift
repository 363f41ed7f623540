import Foundation
import MartletCore
import MartletModel
import Testing

@testable import MartletStorage

/// What is left of payloads that are over, or never came to be: nothing.
struct PayloadSweepingTests {
    private let directory = TemporaryDirectory()
    private let now = Timestamp(seconds: 1_700_000_000)

    private func open() throws -> SQLiteStorage {
        try SQLiteStorage(directory: directory.path, sealer: XORSealer())
    }

    private func draft(_ content: StoredPayload.Content = .text([1])) -> PayloadDraft {
        PayloadDraft(
            kind: .rich, sender: "alice", content: content, createdAt: now, expiresAt: now + .seconds(60))
    }

    private func write(_ name: String, with storage: SQLiteStorage) async throws -> StoredPayload.Content {
        let upload = try await storage.payloadBodies.upload(name)
        try await upload.write(Array("body".utf8))
        let blob = try await upload.commit(.none)
        return .body(name: name, size: blob.size)
    }

    /// All files below the directory of bodies.
    private func files() throws -> [String] {
        let path = "\(directory.path)/payloads"
        return try FileManager.default.subpathsOfDirectory(atPath: path).filter { name in
            var isDirectory: ObjCBool = false
            return FileManager.default.fileExists(atPath: "\(path)/\(name)", isDirectory: &isDirectory)
                && !isDirectory.boolValue
        }
    }

    private func rows(_ table: String, of storage: SQLiteStorage) async throws -> Int64? {
        try await storage.readers.read { connection throws(StorageError) in
            try connection.first("SELECT count(*) FROM \(table)") { $0.integer(0) }
        }
    }

    private static let tables = ["payloads", "payload_texts", "payload_totals", "addressees", "payload_receipts"]

    @Test func aBodyIsReadInPartsAndGoesWithItsPayload() async throws {
        let storage = try open()
        let name = PayloadBodies.newName()
        let id = try await storage.send(draft(try await write(name, with: storage)), to: ["bob"])
        let body = try await storage.payloadBodies.open(name)
        #expect(try await body.read(at: 1, count: 2) == Array("od".utf8))
        try await storage.sweep(at: now + .seconds(59))
        #expect(try await storage.payload(id, for: "bob", at: now) != nil)
        try await storage.sweep(at: now + .seconds(60))
        for table in Self.tables { #expect(try await rows(table, of: storage) == 0, "\(table)") }
        #expect(try files() == [])
        await #expect(throws: ContainerError.noBlob) { _ = try await storage.payloadBodies.open(name) }
        #expect(try await body.read(at: 0, count: 9) == Array("body".utf8), "who reads it reads on")
        try await storage.payloadBodies.remove(name)
        await storage.close()
    }

    @Test func aBodyWithoutARecordGoesAtTheNextStart() async throws {
        let first = try open()
        let kept = PayloadBodies.newName()
        let id = try await first.send(draft(try await write(kept, with: first)), to: ["bob"])
        // The end comes between the body and its record,
        _ = try await write(PayloadBodies.newName(), with: first)
        // between the record and its publication,
        let added = draft(try await write(PayloadBodies.newName(), with: first))
        guard case .added(let unpublished) = try await first.addPayload(added, quota: .max) else {
            Issue.record("there is room")
            return
        }
        try await first.addAddressees(["bob"], of: unpublished)
        await first.close()
        // and in the middle of the body.
        let half = "\(directory.path)/payloads/uploads/upload-7"
        #expect(FileManager.default.createFile(atPath: half, contents: Data([1, 2])))
        #expect(try files().count == 4)

        let second = try open()
        #expect(try files().count == 2, "at once")
        try await second.publish(unpublished)
        #expect(try await second.payload(unpublished, for: "bob", at: now) == nil, "whoever was to publish it is gone")
        try await second.sweep(at: now)
        #expect(try files() == ["containers/payloads/\(kept)"])
        #expect(try await second.payload(id, for: "bob", at: now) != nil)
        #expect(try await rows("payloads", of: second) == 1)
        await second.close()
    }

    @Test func aPayloadWhoseBodyIsGoneAlreadyGoesAllTheSame() async throws {
        let storage = try open()
        let name = PayloadBodies.newName()
        _ = try await storage.send(draft(try await write(name, with: storage)), to: ["bob"])
        // As a sweep leaves it that ends between the two.
        try await storage.payloadBodies.remove(name)
        try await storage.sweep(at: now + .seconds(60))
        #expect(try await rows("payloads", of: storage) == 0)
        await storage.close()
    }

    @Test func aBodyThatCannotBeRemovedHoldsUpNothingAndIsTriedAgain() async throws {
        let storage = try open()
        var first = draft(try await write(PayloadBodies.newName(), with: storage))
        first.expiresAt = now
        _ = try await storage.send(first, to: ["bob"])
        _ = try await storage.send(draft(), to: ["bob"])
        let bodies = "\(directory.path)/payloads/containers/payloads"
        try FileManager.default.moveItem(atPath: bodies, toPath: bodies + "-away")
        await #expect(throws: StorageError.self) { try await storage.sweep(at: now + .seconds(60)) }
        #expect(try await rows("payloads", of: storage) == 1)
        #expect(try await rows("payload_texts", of: storage) == 0)
        try FileManager.default.moveItem(atPath: bodies + "-away", toPath: bodies)
        try await storage.sweep(at: now + .seconds(60))
        #expect(try await rows("payloads", of: storage) == 0)
        #expect(try files() == [])
        await storage.close()
    }

    @Test func unpublishedPayloadsAreRemovedAfterADay() async throws {
        let storage = try open()
        var draft = draft(try await write(PayloadBodies.newName(), with: storage))
        draft.expiresAt = now + .seconds(30 * 86_400)
        _ = try await storage.addPayload(draft, quota: .max)
        let end = now + .seconds(86_400)
        try await storage.sweep(at: Timestamp(milliseconds: end.milliseconds - 1))
        #expect(try await rows("payloads", of: storage) == 1)
        try await storage.sweep(at: end)
        #expect(try await rows("payloads", of: storage) == 0)
        #expect(try files() == [])
        await storage.close()
    }

    @Test func aPayloadOfManyGoesInPortions() async throws {
        let storage = try open()
        let hub = try #require(try await storage.createHub(name: "loft", settings: HubSettings(), at: now)).id
        let users = (0..<2500).map { "user\($0)" }
        let id = try await storage.send(draft(), to: users)
        let registration = RegistrationDraft(
            platform: PlatformID(rawValue: "pigeon"), handle: PushHandle("h"), handleKey: "h", tags: [try Tag("x")])
        _ = try await storage.apply(.put(registration, id: "1", condition: .none), in: hub, at: now).get()
        try await storage.addReceipts(
            [Receipt(subject: .payload(id), event: .opened, at: now)],
            from: ReceiptSource(hub: hub, device: "1", user: "user7", tag: try Tag("x")), at: now)
        #expect(try await rows("payload_receipts", of: storage) == 1)
        let before = storage.writer.commitCount
        try await storage.sweep(at: now + .seconds(60))
        #expect(storage.writer.commitCount - before >= 2500 / PayloadRemoval.rowLimit)
        for table in Self.tables { #expect(try await rows(table, of: storage) == 0, "\(table)") }
        await storage.close()
    }

    @Test(arguments: [
        ("addressees", "payload", "user"), ("payload_receipts", "payload", "device"),
        ("notification_receipts", "notification", "device"), ("refusals", "delivery", "channel"),
        ("retries", "delivery", "channel"), ("tag_members", "tag", "channel"),
    ])
    func aPortionIsNoLongerForWhatIsLeft(table: String, owner: String, key: String) async throws {
        let storage = try open()
        let plan = try await storage.readers.read { connection throws(StorageError) in
            try connection.all("EXPLAIN QUERY PLAN \(Connection.portion(of: table, owner, by: key))") { $0.text(3) }
        }
        #expect(plan.first == "SEARCH \(table) USING PRIMARY KEY (\(owner)=? AND \(key)<?)")
        #expect(!plan.contains { $0.contains("SCAN") || $0.contains("TEMP B-TREE") })
        await storage.close()
    }

    @Test func theAuditIsKeptForNinetyDays() async throws {
        let storage = try open()
        let id = try await storage.send(draft(), to: ["bob"])
        _ = try await storage.readPayload(id, for: "bob", at: now, from: "")
        let end = now + .seconds(90 * 86_400)
        try await storage.sweep(at: Timestamp(milliseconds: end.milliseconds - 1))
        #expect(try await storage.auditEntries(AuditQuery(limit: 9)).count == 1)
        try await storage.sweep(at: end)
        #expect(try await storage.auditEntries(AuditQuery(limit: 9)).isEmpty)
        await storage.close()
    }

    @Test func manyRefusalsCrowdOutRefusalsAndNoReads() async throws {
        let storage = try open()
        let id = try await storage.send(draft(), to: ["bob"])
        _ = try await storage.readPayload(id, for: "bob", at: now, from: "")
        for number in 1...5 { _ = try await storage.readPayload(id, for: "eve\(number)", at: now, from: "") }
        try await storage.sweep(at: now, keeping: Retention(refusalLimit: 2))
        let left = try await storage.auditEntries(AuditQuery(limit: 9))
        #expect(left.map(\.access.user) == ["bob", "eve4", "eve5"])
        await storage.close()
    }
}
