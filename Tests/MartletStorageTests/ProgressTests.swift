import Foundation
import Glibc
import MartletCore
import MartletModel
import MartletStorage
import Testing

struct ProgressTests {
    private let directory = TemporaryDirectory()

    private func open() throws -> SQLiteStorage {
        try SQLiteStorage(directory: directory.path, sealer: XORSealer())
    }

    private func member(_ number: Int64) -> AudienceMember { AudienceMember(channel: ChannelID(rawValue: number)) }

    @Test func onlyWhatWasInsertedIsContained() throws {
        let map = try open().progressMaps.map(for: Delivery.ID(rawValue: 1), through: 100_000)
        let inserted: [Int64] = [0, 1, 63, 64, 32_767, 32_768, 99_999, 100_000]
        for number in inserted { map.insert(member(number)) }
        let found = (0...100_000).filter { map.contains(member(Int64($0))) }.map(Int64.init)
        #expect(found == inserted)
        #expect(!map.contains(member(.max)))
    }

    @Test func theMembersOfAMapAreReturnedInBlocks() throws {
        let maps = try open().progressMaps
        let inserted: [Int64] = [0, 1, 63, 64, 65_535, 65_536, 131_072, 200_000]
        for number in inserted {
            try maps.map(for: Delivery.ID(rawValue: 1), through: 200_000).insert(member(number))
        }
        let map = try #require(try maps.existingMap(for: Delivery.ID(rawValue: 1), through: 200_000))
        #expect(map.blocks == DeliveredBitmap.blocks(of: inserted))
        #expect(try maps.existingMap(for: Delivery.ID(rawValue: 2), through: 200_000) == nil)
        #expect(try maps.map(for: Delivery.ID(rawValue: 2), through: 200_000).blocks.isEmpty)
    }

    @Test func threadsSetBitsOfOneWordWithoutLosingAny() async throws {
        let map = try open().progressMaps.map(for: Delivery.ID(rawValue: 1), through: 4096)
        await withTaskGroup(of: Void.self) { group in
            for start in 0..<8 {
                group.addTask {
                    for number in stride(from: start, through: 4096, by: 8) {
                        map.insert(member(Int64(number)))
                    }
                }
            }
        }
        #expect((0...4096).allSatisfy { map.contains(member($0)) })
    }

    @Test func bitsSurviveAndMapsOfWhatIsFinishedDoNot() async throws {
        let first = try open()
        let now = Timestamp(seconds: 1_700_000_000)
        let hub = try #require(try await first.createHub(name: "loft", settings: HubSettings(), at: now)).id
        let id = try await first.broadcast(in: hub, at: now).id
        let other = Delivery.ID(rawValue: id.rawValue + 1)
        try first.progressMaps.map(for: id, through: 10).insert(member(5))
        try first.progressMaps.map(for: other, through: 10).insert(member(5))
        await first.close()

        let second = try open()
        #expect(access("\(directory.path)/progress/\(other.rawValue)", F_OK) != 0, "nobody needs it any more")
        let map = try second.progressMaps.map(for: id, through: 10)
        #expect(map.contains(member(5)))
        #expect(!map.contains(member(4)))
        await second.close()
    }

    @Test func aMapThatNobodyHoldsHasNoOpenFile() throws {
        let storage = try open()
        for number in 1...50 {
            try storage.progressMaps.map(for: Delivery.ID(rawValue: Int64(number)), through: 10).insert(member(5))
        }
        let open = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").compactMap { name in
            try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(name)")
        }
        #expect(!open.contains { $0.hasPrefix("\(directory.path)/progress/") })
        #expect(try storage.progressMaps.map(for: Delivery.ID(rawValue: 50), through: 10).contains(member(5)))
    }

    @Test func aMapIsTheSameForEverybodyUntilItIsRemoved() throws {
        let maps = try open().progressMaps
        let map = try maps.map(for: Delivery.ID(rawValue: 1), through: 10)
        try maps.map(for: Delivery.ID(rawValue: 1), through: 10).insert(member(3))
        #expect(map.contains(member(3)))
        try maps.remove(Delivery.ID(rawValue: 1))
        try maps.remove(Delivery.ID(rawValue: 1))
        map.insert(member(4))
        #expect(try !maps.map(for: Delivery.ID(rawValue: 1), through: 10).contains(member(3)))
    }
}
