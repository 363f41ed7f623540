import Foundation
import MartletCore
import MartletModel
import Testing

@testable import MartletStorage

/// What payloads leave in the files, and what they do not.
struct PayloadTests {
    private let directory = TemporaryDirectory()
    private let now = Timestamp(seconds: 1_700_000_000)

    private func open() throws -> SQLiteStorage {
        try SQLiteStorage(directory: directory.path, sealer: XORSealer())
    }

    private func draft(_ content: StoredPayload.Content, isOnce: Bool = false) -> PayloadDraft {
        PayloadDraft(
            kind: .secure, sender: "alice", content: content, isOnce: isOnce, createdAt: now,
            expiresAt: now + .seconds(60))
    }

    /// Every byte of every file of the data directory.
    private func storedBytes() -> Data {
        let files = (try? FileManager.default.subpathsOfDirectory(atPath: directory.path)) ?? []
        return files.reduce(into: Data()) { bytes, name in
            bytes += FileManager.default.contents(atPath: "\(directory.path)/\(name)") ?? Data()
        }
    }

    @Test func aTextLiesSealedForItsOwnPlace() async throws {
        let storage = try open()
        let id = try await storage.send(draft(.text(Array("nobody else's business".utf8))), to: ["bob"])
        #expect(storedBytes().range(of: Data("business".utf8)) == nil)
        let other = try await storage.send(draft(.text(Array("other".utf8))), to: ["bob"])
        try await storage.writer.write { connection throws(StorageError) in
            try connection.run(
                "UPDATE payload_texts SET sealed = (SELECT sealed FROM payload_texts WHERE payload = ?) WHERE payload = ?",
                id.stored, other.stored)
        }
        await #expect { _ = try await storage.payload(other, for: "bob", at: now) } throws: {
            ($0 as? StorageError)?.kind == .corrupt
        }
        await storage.close()
    }

    /// A text of the length, and what is to be found of it where it is stored.
    private func text(_ length: Int) -> (bytes: [UInt8], sealed: [Data]) {
        let bytes = (0..<length).map { UInt8(ascii: "a") + UInt8($0 * $0 / 7 % 26) }
        let sealed = XORSealer().seal(bytes, context: "").dropFirst()
        let parts = stride(from: 0, to: length - 16, by: max(1, length / 7)).map { start in
            Data(sealed.dropFirst(start).prefix(16))
        }
        return (bytes, parts)
    }

    @Test(arguments: [100, 3000, 65_536])
    func textsThatAllHaveReadOnceAreInNoFileAfterASweep(_ length: Int) async throws {
        let storage = try open()
        // Neighbours, so that pages are shared and divided.
        for number in 0..<20 {
            _ = try await storage.send(draft(.text(Array(repeating: UInt8(number), count: length))), to: ["bob"])
        }
        let (bytes, parts) = text(length)
        let id = try await storage.send(draft(.text(bytes), isOnce: true), to: ["bob", "carol"])
        #expect(parts.allSatisfy { storedBytes().range(of: $0) != nil }, "the search finds what is there")
        #expect(try await storage.readPayload(id, for: "bob", at: now, from: "")?.payload.content == .text(bytes))
        try await storage.sweep(at: now)
        #expect(parts.allSatisfy { storedBytes().range(of: $0) != nil }, "it is Carol's still")
        #expect(try await storage.readPayload(id, for: "carol", at: now, from: "")?.payload.content == .text(bytes))
        try await storage.sweep(at: now)
        let left = storedBytes()
        for part in parts { #expect(left.range(of: part) == nil) }
        await storage.close()
    }

    @Test func expiredAndWithdrawnTextsAreInNoFileAfterASweep() async throws {
        let storage = try open()
        let (bytes, parts) = text(5000)
        let withdrawn = try await storage.send(draft(.text(bytes)), to: ["bob"])
        try await storage.withdraw(withdrawn)
        try await storage.sweep(at: now)
        #expect(parts.allSatisfy { storedBytes().range(of: $0) == nil })
        _ = try await storage.send(draft(.text(bytes)), to: ["bob"])
        try await storage.sweep(at: now + .seconds(60))
        #expect(parts.allSatisfy { storedBytes().range(of: $0) == nil })
        await storage.close()
    }

    @Test func nothingIsScannedToFindAPayload() async throws {
        let storage = try open()
        let plan = try await storage.readers.read { connection throws(StorageError) in
            try connection.all("EXPLAIN QUERY PLAN \(PayloadReading.lookUp)") { $0.text(3) }
        }
        #expect(plan.filter { $0.hasPrefix("SEARCH") }.count == 4, "each table is looked into, whatever there is")
        #expect(plan.allSatisfy { !$0.hasPrefix("SCAN") || $0.contains("CONSTANT") || $0.contains("subquery") })
        await storage.close()
    }

    @Test func sentNotificationsAreThereAfterReopening() async throws {
        let first = try open()
        let id = try await first.send(draft(.text([1, 2, 3])), to: ["bob"])
        _ = try await first.readPayload(id, for: "bob", at: now, from: "::1")
        await first.close()
        let second = try open()
        #expect(try await second.payload(id, for: "bob", at: now)?.readAt == now)
        #expect(try await second.auditEntries(AuditQuery(limit: 9)).map(\.access.address) == ["::1"])
        await second.close()
    }
}
