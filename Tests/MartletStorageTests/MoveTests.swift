import Foundation
import MartletCore
import MartletModel
import Testing

@testable import MartletStorage

struct MoveTests {
    private let directory = TemporaryDirectory()
    private let target = TemporaryDirectory()
    private let now = Timestamp(seconds: 1_700_000_000)
    private let rules = MoveRules(hash: { $0 + [UInt8](repeating: 0, count: 32) }, key: { $1 })

    private func make(_ name: String, _ text: String = "", in directory: TemporaryDirectory) throws {
        try Data(text.utf8).write(to: URL(fileURLWithPath: "\(directory.path)/\(name)"))
    }

    private func entries(_ directory: TemporaryDirectory) throws -> Set<String> {
        Set(try FileManager.default.contentsOfDirectory(atPath: directory.path)).subtracting(["lock"])
    }

    private func openTarget(
        allocate: @escaping FileProgressMap.Allocation = { posix_fallocate($0, $1, $2) }
    ) throws -> SQLiteMoveTarget {
        try SQLiteMoveTarget(target.path, sealer: XORSealer(), rules: rules, allocate: allocate)
    }

    // MARK: Marks

    @Test func aMoveThatBeginsAgainRemovesOnlyWhatAMoveHasMade() throws {
        for name in ["martlet.db", "martlet.db-wal", "martlet.db-journal", "secret.key.17", "unfinished-move"] {
            try make(name, in: directory)
        }
        let kept: Set = ["secret.key.old", "secret.key.", "secret.key.17a", "martlet.db.old", "martlet.db-old"]
        for name in kept { try make(name, in: directory) }
        let marked = try StorageDirectory(directory.path)
        #expect { try UnfinishedMove.begin(in: marked) } throws: { "\($0)".contains("is not empty") }
        #expect(try entries(directory) == kept.union(["unfinished-move"]))
        for name in kept { try FileManager.default.removeItem(atPath: marked.file(name)) }
        try UnfinishedMove.begin(in: marked)
    }

    @Test func theMarkOfAMovedDirectoryIsMadeWholeOrNotAtAll() throws {
        let moved = try StorageDirectory(directory.path)
        try moved.makePrivateDirectory("moved.new")
        #expect(throws: StorageError.self) { try MovedAway.mark(moved, to: "the database 'm'") }
        #expect(throws: Never.self) { try MovedAway.refuse(moved.path) }
        try FileManager.default.removeItem(atPath: moved.file("moved.new"))
        try make("moved.new", "what a crash has left, which is longer than the name of the place", in: directory)
        #expect(throws: Never.self) { try MovedAway.refuse(moved.path) }
        try MovedAway.mark(moved, to: "the database 'm'")
        #expect { try MovedAway.refuse(moved.path) } throws: {
            "\($0)".contains("moved to the database 'm': serve that")
        }
        #expect(try entries(directory) == ["moved"])
    }

    @Test func whoMeetsARunningMoveIsToldThatItRuns() throws {
        func refusal() -> StorageError.Kind? {
            do throws(StorageError) {
                try SQLiteStorage.checkUse(of: target.path, isOfNode: false)
                return nil
            } catch {
                return error.kind
            }
        }
        #expect(refusal() == nil)
        let moving = try openTarget()
        withExtendedLifetime(moving) { #expect(refusal() == .locked) }
    }

    @Test func anUnfinishedMoveIsRefusedWhenItRunsNoMore() throws {
        _ = try openTarget()
        #expect { try SQLiteStorage.checkUse(of: target.path, isOfNode: false) } throws: {
            "\($0)".contains("was not finished")
        }
    }

    // MARK: Losses

    @Test func progressThatTheDiskHasNoRoomForIsNotTakenForMoved() throws {
        let moving = try openTarget { _, _, _ in ENOSPC }
        try moving.begin(MovedDirectory(hubs: [], rules: [], backendHub: nil, platforms: []), MovedNumbers())
        let table = try #require(MovedTable.all.first { $0.name == "progress" })
        try moving.beginRows(of: table)
        let block = try #require(DeliveredBitmap.blocks(of: [7]).first)
        try moving.add([.integer(1), .integer(1), .integer(0), .integer(0), .bytes(block.shortest.bytes)])
        try moving.endRows()
        #expect { try moving.endCopying() } throws: { ($0 as? StorageError)?.kind == .full }
    }

    @Test func aNotificationWithoutItsMessageIsFoundOut() async throws {
        let storage = try SQLiteStorage(directory: directory.path, sealer: XORSealer())
        let hub = try #require(try await storage.createHub(name: "loft", settings: HubSettings(), at: now)).id
        _ = try await storage.broadcast(in: hub, at: now)
        await storage.close()
        func move() throws {
            let source = try SQLiteMoveSource(directory.path, sealer: XORSealer(), rules: rules)
            try DataMove(from: source, to: try openTarget(), rules: rules) { _ in }.run()
        }
        let database = try Connection(path: "\(directory.path)/martlet.db")
        try database.execute(
            "PRAGMA foreign_keys = OFF; CREATE TABLE aside AS SELECT * FROM messages; DELETE FROM messages")
        #expect { try move() } throws: { "\($0)".contains("1 rows of 'notifications', but only 0 can be moved") }
        #expect(try !entries(directory).contains("moved"))
        try database.execute("INSERT INTO messages SELECT * FROM aside")
        try move()
        #expect(try entries(directory).contains("moved"))
    }
}
