import Glibc
import MartletCore
import MartletModel
import Testing

@testable import MartletStorage

struct SnapshotTests {
    private let directory = TemporaryDirectory()
    private let copies = TemporaryDirectory()
    private let now = Timestamp(seconds: 1_700_000_000)

    private func open(_ path: String) throws -> SQLiteStorage {
        try SQLiteStorage(directory: path, sealer: XORSealer())
    }

    private func member(_ number: Int64) -> AudienceMember { AudienceMember(channel: ChannelID(rawValue: number)) }

    /// Makes a data directory of what a snapshot shows.
    private func restore(_ snapshot: StorageSnapshot) async throws -> SQLiteStorage {
        let path = "\(copies.path)/restored"
        let restoration = try StorageRestoration(into: path)
        try await snapshot.forEachFile { file in
            try restoration.beginFile(file.member)
            var index: Int64 = 0
            while index < file.size {
                let piece = try await file.read(at: index, count: 100_000)
                try restoration.write(piece)
                index += Int64(piece.count)
            }
            try restoration.endFile()
        }
        try restoration.finish()
        return try open(path)
    }

    @Test func aSnapshotShowsOneMomentWhileOthersWrite() async throws {
        let storage = try open(directory.path)
        try await storage.writer.write { connection throws(StorageError) in
            try connection.execute(
                """
                CREATE TABLE a (number INTEGER PRIMARY KEY, filler BLOB); CREATE TABLE b (number INTEGER PRIMARY KEY);
                WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000)
                INSERT INTO a SELECT i, randomblob(3000) FROM n;
                INSERT INTO b SELECT number FROM a
                """)
        }
        let before = storage.writer.commitCount
        let snapshot = try await withThrowingTaskGroup(of: StorageSnapshot?.self) { group in
            group.addTask {
                while !Task.isCancelled {
                    // Pages at both ends of the file change in one transaction.
                    try await storage.writer.write { connection throws(StorageError) in
                        try connection.run(
                            "UPDATE a SET filler = randomblob(3000) WHERE number = 1 + abs(random()) % 3000")
                        try connection.run("INSERT INTO a (filler) VALUES (randomblob(3000))")
                        try connection.run("INSERT INTO b SELECT max(number) FROM a")
                    }
                }
                return nil
            }
            while storage.writer.commitCount < before + 10 { await Task.yield() }
            let snapshot = try await storage.snapshot()
            group.cancelAll()
            return snapshot
        }
        #expect(storage.writer.commitCount > before + 10)
        let restored = try await restore(snapshot)
        let found = try await restored.readers.read { connection throws(StorageError) in
            (
                try connection.first("SELECT count(*), max(number) FROM a") { [$0.integer(0), $0.integer(1)] },
                try connection.first("SELECT count(*), max(number) FROM b") { [$0.integer(0), $0.integer(1)] },
                try connection.first("PRAGMA integrity_check") { $0.text(0) }
            )
        }
        #expect(found.0 == found.1)
        #expect((found.0?.first ?? 0) >= 3010, "what was answered with success before is in it")
        #expect(found.2 == "ok")
        await restored.close()
        await snapshot.close()
        await storage.close()
    }

    @Test func progressOfWhatIsUnfinishedComesAlongThoughItEndsMeanwhile() async throws {
        let storage = try open(directory.path)
        let hub = try #require(try await storage.createHub(name: "loft", settings: HubSettings(), at: now)).id
        let going = try await storage.broadcast(in: hub, at: now).id
        let over = try await storage.broadcast(in: hub, at: now).id
        for id in [going, over] { try storage.progressMaps.map(for: id, through: 100).insert(member(5)) }
        try await storage.record(DeliveryStep(delivery: over, isFannedOut: true, state: .completed, endedAt: now))
        try storage.progressMaps.remove(over)
        let snapshot = try await storage.snapshot()
        try storage.progressMaps.map(for: going, through: 100).insert(member(6))
        try storage.progressMaps.remove(going)

        let restored = try await restore(snapshot)
        #expect(try await restored.unfinished(after: Delivery.ID(rawValue: 0), limit: 10).map(\.delivery.id) == [going])
        let map = try restored.progressMaps.map(for: going, through: 100)
        #expect((0...100).filter { map.contains(member($0)) } == [5, 6])
        #expect(access("\(copies.path)/restored/progress/\(over.rawValue)", F_OK) != 0)
        await restored.close()
        #expect(access(storage.progressMaps.path(of: going), F_OK) == 0, "somebody may still read it")
        await snapshot.close()
        #expect(access(storage.progressMaps.path(of: going), F_OK) != 0, "nobody does")
        await storage.close()
    }

    @Test func progressInSlotsComesAlongThoughItEndsMeanwhile() async throws {
        let storage = try open(directory.path)
        let maps = storage.progressMaps
        let hub = try #require(try await storage.createHub(name: "loft", settings: HubSettings(), at: now)).id
        var ids: [Delivery.ID] = []
        for _ in 0..<3 { ids.append(try await storage.broadcast(in: hub, at: now).id) }
        let (over, going, crowded) = (ids[0], ids[1], ids[2])
        for id in ids { try maps.map(for: id, through: 1000, expecting: 3).insert(member(5)) }
        for number in 6...100 { try maps.map(for: crowded, through: 1000).insert(member(Int64(number))) }
        try await storage.record(DeliveryStep(delivery: over, isFannedOut: true, state: .completed, endedAt: now))
        try maps.remove(over)
        let snapshot = try await storage.snapshot()
        try maps.map(for: going, through: 1000).insert(member(6))
        for id in [going, crowded] { try maps.remove(id) }
        // Slots that are read are nobody else's.
        let later = Delivery.ID(rawValue: crowded.rawValue + 1)
        try maps.map(for: later, through: 1000, expecting: 3).insert(member(7))

        let restored = try await restore(snapshot)
        let restoredMaps = restored.progressMaps
        let found = try [going, crowded].map { try restoredMaps.existingMap(for: $0, through: 1000)?.blocks }
        #expect(found == [DeliveredBitmap.blocks(of: [5, 6]), DeliveredBitmap.blocks(of: 5...100)])
        #expect(try restoredMaps.existingMap(for: over, through: 1000) == nil)
        await restored.close()
        await snapshot.close()
        #expect(try maps.existingMap(for: going, through: 1000) == nil, "nobody reads it any more")
        #expect(access(maps.path(of: crowded), F_OK) != 0)
        await storage.close()
    }

    @Test func bodiesOfPayloadsComeAlongUnlessTheyHaveGone() async throws {
        let storage = try open(directory.path)
        var names: [String] = []
        for content in [[UInt8](repeating: 7, count: 300_000), [1], []] {
            let name = PayloadBodies.newName()
            let upload = try await storage.payloadBodies.upload(name)
            if !content.isEmpty { try await upload.write(content) }
            _ = try await upload.commit(.none)
            let draft = PayloadDraft(
                kind: .rich, sender: "anna", type: "image", contentType: "image/png", message: "",
                content: .body(name: name, size: Int64(content.count)), isOnce: false, device: nil, createdAt: now,
                expiresAt: .distantFuture)
            _ = try await storage.send(draft, to: ["ben"])
            names.append(name)
        }
        let snapshot = try await storage.snapshot()
        try await storage.payloadBodies.remove(names[1])
        let restored = try await restore(snapshot)
        let first = try await restored.payloadBodies.open(names[0])
        #expect(try await first.read(at: 0, count: 400_000) == [UInt8](repeating: 7, count: 300_000))
        #expect(try await restored.payloadBodies.open(names[2]).blob.size == 0)
        await #expect(throws: ContainerError.noBlob) { try await restored.payloadBodies.open(names[1]) }
        await restored.close()
        await storage.close()
    }

    @Test func thereIsOneSnapshotAtATimeAndNothingIsLeftOfIt() async throws {
        let storage = try open(directory.path)
        let first = try await storage.snapshot()
        await #expect(throws: StorageError.self) { try await storage.snapshot() }
        await first.close()
        #expect(access("\(directory.path)/snapshot", F_OK) != 0)
        await (try await storage.snapshot()).close()
        await storage.close()
    }

    @Test func aStartRemovesWhatAProcessLeftOfItsSnapshot() async throws {
        let storage = try open(directory.path)
        await storage.close()
        mkdir("\(directory.path)/snapshot", 0o700)
        close(creat("\(directory.path)/snapshot/martlet.db", 0o600))
        let next = try open(directory.path)
        #expect(access("\(directory.path)/snapshot", F_OK) != 0)
        await next.close()
    }

    @Test func aClosedStorageGivesNone() async throws {
        let storage = try open(directory.path)
        await storage.close()
        await #expect(throws: StorageError.self) { try await storage.snapshot() }
    }
}
