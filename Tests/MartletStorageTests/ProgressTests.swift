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

    private func channel(_ number: Int64) -> ChannelID { ChannelID(rawValue: number) }

    @Test func onlyWhatWasInsertedIsContained() throws {
        let map = try open().progressMaps.map(for: 1, through: channel(100_000))
        let inserted: [Int64] = [0, 1, 63, 64, 32_767, 32_768, 99_999, 100_000]
        for number in inserted { map.insert(channel(number)) }
        let found = (0...100_000).filter { map.contains(channel(Int64($0))) }.map(Int64.init)
        #expect(found == inserted)
        #expect(!map.contains(channel(.max)))
    }

    @Test func threadsSetBitsOfOneWordWithoutLosingAny() async throws {
        let map = try open().progressMaps.map(for: 1, through: channel(4096))
        await withTaskGroup(of: Void.self) { group in
            for start in 0..<8 {
                group.addTask {
                    for number in stride(from: start, through: 4096, by: 8) {
                        map.insert(ChannelID(rawValue: Int64(number)))
                    }
                }
            }
        }
        #expect((0...4096).allSatisfy { map.contains(channel($0)) })
    }

    @Test func bitsSurviveAndMapsOfWhatIsFinishedDoNot() async throws {
        let first = try open()
        let now = Timestamp(seconds: 1_700_000_000)
        let hub = try #require(try await first.createHub(name: "loft", settings: HubSettings(), at: now)).id
        let draft = NotificationDraft(
            id: NotificationID(at: now), hub: hub, platform: .init(rawValue: "pigeon"), target: .audience(nil),
            message: Message(body: [1]), acceptedAt: now, expiresAt: now)
        let sequence = try await first.accept(draft).sequence
        try first.progressMaps.map(for: sequence, through: channel(10)).insert(channel(5))
        try first.progressMaps.map(for: sequence + 1, through: channel(10)).insert(channel(5))
        await first.close()

        let second = try open()
        #expect(access("\(directory.path)/progress/\(sequence + 1)", F_OK) != 0, "nobody needs it any more")
        let map = try second.progressMaps.map(for: sequence, through: channel(10))
        #expect(map.contains(channel(5)))
        #expect(!map.contains(channel(4)))
        await second.close()
    }

    @Test func aMapThatNobodyHoldsHasNoOpenFile() throws {
        let storage = try open()
        for number in 1...50 {
            try storage.progressMaps.map(for: Int64(number), through: channel(10)).insert(channel(5))
        }
        let open = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").compactMap { name in
            try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(name)")
        }
        #expect(!open.contains { $0.hasPrefix("\(directory.path)/progress/") })
        #expect(try storage.progressMaps.map(for: 50, through: channel(10)).contains(channel(5)))
    }

    @Test func aMapIsTheSameForEverybodyUntilItIsRemoved() throws {
        let maps = try open().progressMaps
        let map = try maps.map(for: 1, through: channel(10))
        try maps.map(for: 1, through: channel(10)).insert(channel(3))
        #expect(map.contains(channel(3)))
        try maps.remove(1)
        try maps.remove(1)
        map.insert(channel(4))
        #expect(try !maps.map(for: 1, through: channel(10)).contains(channel(3)))
    }
}
