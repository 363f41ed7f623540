import MartletCore
import MartletTesting
import Testing

@testable import MartletPostgres

/// Containers of blobs in the database.
@Suite(.enabled(if: TestDatabase.isThere, "there is no PostgreSQL"))
struct ContainerTests {
    @Test(arguments: ContainerConformance.requirements)
    func postgres(_ requirement: ContainerConformance.Requirement) async throws {
        try await TestDatabase.with { storage in try await requirement.check(storage.containers) }
    }

    private func address(_ name: String) throws -> BlobAddress {
        BlobAddress(try #require(ContainerName("jobs")), try #require(BlobName(name)))
    }

    private func count(_ table: String, in storage: PostgresStorage) async throws -> Int64 {
        try await storage.read(Batch(.rare([], "SELECT count(*) FROM \(table)")))[0][0].integer(0)
    }

    /// Lets as much time go by for what waits to be removed.
    private func pass(_ duration: Duration, in storage: PostgresStorage) async throws {
        let milliseconds = duration / .milliseconds(1)
        _ = try await storage.change(
            .rare([.int8], "UPDATE blob_contents SET removable_at = removable_at - $1 WHERE removable_at > 0")
        ) { $0.add(Int64(milliseconds)) }
    }

    @Test func aBlobOfManyChunksIsReadFromAnywhere() async throws {
        try await TestDatabase.with { storage in
            let store = storage.containers
            let large = try address("large")
            _ = try await store.createContainer(large.container)
            let bytes = (0..<700_001).map { UInt8(truncatingIfNeeded: $0 ^ ($0 >> 8)) }
            let upload = try await store.upload(large, .fresh)
            for start in stride(from: 0, to: bytes.count, by: 99_991) {
                try await upload.write(Array(bytes[start..<min(bytes.count, start + 99_991)]))
                if start < 200_000 { try await upload.synchronize() }
            }
            let blob = try await upload.commit(.none)
            #expect(blob.size == Int64(bytes.count))
            #expect(try await count("blob_chunks", in: storage) == 3)
            let content = try await store.openBlob(large)
            for (offset, length) in [
                (0, 700_001), (0, 1), (262_143, 2), (262_144, 262_144), (699_999, 9), (700_001, 1),
            ] {
                let end = min(bytes.count, offset + length)
                #expect(
                    try await content.read(at: Int64(offset), count: length) == Array(bytes[offset..<end]),
                    "\(length) bytes at \(offset)")
            }
        }
    }

    @Test func whoReadsADeletedBlobReadsOnForAWhile() async throws {
        try await TestDatabase.with { storage in
            let store = storage.containers
            let name = try address("a")
            _ = try await store.createContainer(name.container)
            let upload = try await store.upload(name, .fresh)
            try await upload.write([1, 2, 3])
            _ = try await upload.commit(.none)
            let content = try await store.openBlob(name)
            try await store.deleteBlob(name)
            try await storage.sweepContents()
            #expect(try await content.read(at: 1, count: 9) == [2, 3])
            try await pass(.seconds(901), in: storage)
            try await storage.sweepContents()
            await #expect(throws: ContainerError.noBlob) { _ = try await content.read(at: 1, count: 9) }
            for table in ["blobs", "blob_contents", "blob_chunks"] {
                #expect(try await count(table, in: storage) == 0, "\(table)")
            }
        }
    }

    @Test func uploadsAndBlocksThatNobodyContinuesGoAfterAWeek() async throws {
        try await TestDatabase.with { storage in
            let store = storage.containers
            let name = try address("a")
            _ = try await store.createContainer(name.container)
            let upload = try await store.upload(name, .resumable(key: "7", at: 0))
            try await upload.write([1, 2, 3])
            try await upload.synchronize()
            let block = try await store.uploadBlock([1], of: name)
            try await block.write([4])
            _ = try await block.commit(.none)
            try await pass(.seconds(6 * 86_400), in: storage)
            try await storage.sweepContents()
            #expect(try await count("blob_contents", in: storage) == 2)
            try await pass(.seconds(86_400), in: storage)
            try await storage.sweepContents()
            for table in ["blob_blocks", "blob_contents", "blob_chunks"] {
                #expect(try await count(table, in: storage) == 0, "\(table)")
            }
            await #expect(throws: ContainerError.self, "half a blob is none") { _ = try await upload.commit(.none) }
            await #expect(throws: ContainerError.noBlob) { _ = try await store.openBlob(name) }
        }
    }

    @Test func theBodyOfAPayloadIsReadAndGoesWithIt() async throws {
        try await TestDatabase.with { storage in
            let name = PayloadBodies.newName()
            let upload = try await storage.payloadBodies.upload(name)
            try await upload.write(Array("body".utf8))
            _ = try await upload.commit(.none)
            #expect(try await storage.containers.containers().isEmpty, "bodies are in no container of jobs")
            let body = try await storage.payloadBodies.open(name)
            #expect(try await body.read(at: 1, count: 2) == Array("od".utf8))
            try await storage.payloadBodies.remove(name)
            try await storage.payloadBodies.remove(name)
            await #expect(throws: ContainerError.noBlob) { _ = try await storage.payloadBodies.open(name) }
        }
    }

    @Test func aBodyWithoutARecordGoesAfterADay() async throws {
        try await TestDatabase.with { storage in
            let upload = try await storage.payloadBodies.upload(PayloadBodies.newName())
            try await upload.write([1])
            _ = try await upload.commit(.none)
            try await storage.sweepContents()
            #expect(try await count("blobs", in: storage) == 1)
            _ = try await storage.change(.rare([], "UPDATE blobs SET modified_at = modified_at - 86400000")) { _ in }
            try await storage.sweepContents()
            for table in ["blobs", "blob_contents", "blob_chunks"] {
                #expect(try await count(table, in: storage) == 0, "\(table)")
            }
        }
    }
}
