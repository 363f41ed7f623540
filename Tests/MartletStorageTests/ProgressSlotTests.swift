import Foundation
import Glibc
import MartletCore
import MartletModel
import Testing

@testable import MartletStorage

struct ProgressSlotTests {
    private let directory = TemporaryDirectory()
    private let now = Timestamp(seconds: 1_700_000_000)

    private func open() throws -> SQLiteStorage {
        try SQLiteStorage(directory: directory.path, sealer: XORSealer())
    }

    private func member(_ number: Int64) -> AudienceMember { AudienceMember(channel: ChannelID(rawValue: number)) }

    private func id(_ number: Int) -> Delivery.ID { Delivery.ID(rawValue: Int64(number)) }

    private func numbers(_ map: any ProgressMap, through last: Int64 = 1000) -> [Int64] {
        (0...last).filter { map.contains(member($0)) }
    }

    /// How many maps have a file of their own.
    private func fileCount() throws -> Int {
        try FileManager.default.contentsOfDirectory(atPath: "\(directory.path)/progress").count { $0 != "slots" }
    }

    /// A storage with unfinished deliveries.
    private func storage(unfinished count: Int) async throws -> (SQLiteStorage, [Delivery.ID]) {
        let storage = try open()
        let hub = try #require(try await storage.createHub(name: "loft", settings: HubSettings(), at: now)).id
        var ids: [Delivery.ID] = []
        for _ in 0..<count { ids.append(try await storage.broadcast(in: hub, at: now).id) }
        return (storage, ids)
    }

    @Test func aDeliveryForFewHasNoFileOfItsOwn() throws {
        let maps = try open().progressMaps
        let map = try maps.map(for: id(1), through: 1_000_000, expecting: 3)
        for number: Int64 in [7, 999_999, 8, 7] { map.insert(member(number)) }
        #expect(numbers(map, through: 1_000_000) == [7, 8, 999_999])
        #expect(map.blocks == DeliveredBitmap.blocks(of: [7, 8, 999_999]))
        #expect(try maps.map(for: id(1), through: 1_000_000).contains(member(8)))
        #expect(try maps.existingMap(for: id(1), through: 1_000_000)?.contains(member(8)) == true)
        #expect(try fileCount() == 0)
    }

    @Test func aDeliveryWithManyOrUnknownMembersHasAFile() throws {
        let maps = try open().progressMaps
        for (number, count) in [nil, ProgressSlot.capacity + 1].enumerated() {
            try maps.map(for: id(number + 1), through: 1000, expecting: count).insert(member(7))
            #expect(try fileCount() == number + 1)
            #expect(try numbers(maps.map(for: id(number + 1), through: 1000, expecting: 1)) == [7])
        }
    }

    /// A notification that was stopped before its first push, and goes on while a backup is made.
    @Test(arguments: [3, nil]) func aMapThatIsRemovedDuringABackupIsGoneAtOnce(count: Int?) throws {
        let maps = try FileProgressMaps(in: directory.path, keeping: [])
        maps.hold()
        _ = try maps.map(for: id(1), through: 1000, expecting: count)
        try maps.remove(id(1))
        #expect(!maps.hasMap(of: id(1)))
        #expect(try maps.existingMap(for: id(1), through: 1000) == nil)
        let map = try maps.map(for: id(1), through: 1000, expecting: count)
        map.insert(member(7))
        maps.release()
        #expect(maps.hasMap(of: id(1)))
        #expect(try numbers(maps.map(for: id(1), through: 1000)) == [7])
    }

    @Test func slotsSurviveUnlessTheirDeliveryIsFinished() async throws {
        let (first, ids) = try await storage(unfinished: 2)
        let over = id(Int(ids[1].rawValue) + 1)
        for (index, delivery) in (ids + [over]).enumerated() {
            try first.progressMaps.map(for: delivery, through: 1000, expecting: 3).insert(member(Int64(index) + 5))
        }
        await first.close()

        let second = try open()
        let maps = second.progressMaps
        #expect(try maps.existingMap(for: over, through: 1000) == nil)
        #expect(try numbers(maps.map(for: ids[0], through: 1000)) == [5])
        #expect(try numbers(#require(try maps.existingMap(for: ids[1], through: 1000))) == [6])
        try maps.map(for: ids[0], through: 1000).insert(member(9))
        #expect(try numbers(maps.map(for: ids[0], through: 1000)) == [5, 9])
        #expect(try fileCount() == 0)
        await second.close()
    }

    @Test func aMemberThatDoesNotFitASlotIsInAFile() async throws {
        let (first, ids) = try await storage(unfinished: 1)
        let all = Array(0...Int64(2 * ProgressSlot.capacity))
        let map = try first.progressMaps.map(for: ids[0], through: 1000, expecting: 3)
        for number in all { map.insert(member(number)) }
        #expect(numbers(map) == all)
        #expect(map.blocks == DeliveredBitmap.blocks(of: all))
        #expect(try fileCount() == 1)
        await first.close()

        let second = try open()
        let again = try second.progressMaps.map(for: ids[0], through: 1000)
        #expect(numbers(again) == all)
        again.insert(member(999))
        #expect(again.blocks == DeliveredBitmap.blocks(of: all + [999]))
        try second.progressMaps.remove(ids[0])
        #expect(try fileCount() == 0)
        #expect(try second.progressMaps.existingMap(for: ids[0], through: 1000) == nil)
        await second.close()
    }

    @Test func anEntryOfAnotherDeliveryIsNotBelieved() async throws {
        let (first, ids) = try await storage(unfinished: 1)
        await first.close()
        // As power loss may leave a slot: the owner of now, entries of those before, and words that never were written.
        let (own, other) = (UInt64(ids[0].rawValue) << 40, UInt64(ids[0].rawValue + 1) << 40)
        let words: [UInt64] = [UInt64(ids[0].rawValue), other | 5, 0, own | 6, other | 7, own | 8]
        let file = try FileHandle(forUpdating: URL(fileURLWithPath: "\(directory.path)/progress/slots"))
        try file.seek(toOffset: 512 * 3)
        try file.write(contentsOf: words.withUnsafeBytes { Data($0) })
        try file.close()

        let second = try open()
        let map = try #require(try second.progressMaps.existingMap(for: ids[0], through: 1000))
        #expect(numbers(map) == [6, 8])
        for number in 100..<Int64(100 + ProgressSlot.capacity - 2) { map.insert(member(number)) }
        #expect(try fileCount() == 0, "what is not believed takes no room")
        #expect(numbers(map) == [6, 8] + Array(100..<Int64(100 + ProgressSlot.capacity - 2)))
        await second.close()
    }

    @Test func whoStillHoldsAMapThatWasRemovedTellsTheNextOwnerNothing() throws {
        let maps = try open().progressMaps
        let old = try maps.map(for: id(1), through: 1000, expecting: 3)
        old.insert(member(5))
        try maps.remove(id(1))
        let new = try maps.map(for: id(2), through: 1000, expecting: 3)
        old.insert(member(6))
        new.insert(member(7))
        #expect(numbers(new) == [7])
        #expect(new.blocks == DeliveredBitmap.blocks(of: [7]))
        #expect(!old.contains(member(7)))
    }

    @Test func whereThereIsNoSlotLeftADeliveryHasAFile() throws {
        let maps = try open().progressMaps
        let last = ProgressSlots.count + 3
        for number in 1...last {
            try maps.map(for: id(number), through: 10_000, expecting: 1).insert(member(Int64(number)))
        }
        #expect(try fileCount() == 3)
        for number in 1...last {
            let map = try #require(try maps.existingMap(for: id(number), through: 10_000))
            #expect(map.blocks == DeliveredBitmap.blocks(of: [Int64(number)]))
        }
        try maps.remove(id(1))
        try maps.map(for: id(last + 1), through: 10_000, expecting: 1).insert(member(1))
        #expect(try fileCount() == 3)
    }

    @Test func threadsEnterWithoutLosingAnybodyInASlotAndBehindIt() async throws {
        let map = try open().progressMaps.map(for: id(1), through: 1000, expecting: 3)
        await withTaskGroup(of: Void.self) { group in
            for start in 0..<4 {
                group.addTask {
                    // Some are entered by two.
                    for number in stride(from: start / 2, to: 100, by: 2) { map.insert(member(Int64(number))) }
                }
            }
        }
        #expect(numbers(map) == Array(0..<100))
        #expect(map.blocks == DeliveredBitmap.blocks(of: 0..<100))
    }

    @Test func withoutRoomForSlotsEverybodyHasAFile() throws {
        // A pipe has no place on a disk.
        try FileManager.default.createDirectory(
            atPath: "\(directory.path)/progress", withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o700])
        mkfifo("\(directory.path)/progress/slots", 0o600)
        chmod(directory.path, 0o700)
        let maps = try open().progressMaps
        try maps.map(for: id(1), through: 1000, expecting: 3).insert(member(5))
        #expect(try numbers(maps.map(for: id(1), through: 1000)) == [5])
        #expect(try fileCount() == 1)
    }
}
