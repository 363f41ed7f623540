import MartletCrypto
import Testing

@testable import MartletServer

struct ArchiveTests {
    private static let members: [(name: String, content: [UInt8])] = [
        ("backup.json", Array("{}".utf8)), ("martlet.db", Array(repeating: 0xAB, count: 1024)), ("progress/7", []),
        ("payloads/0", Array(0...255) + [1]),
    ]

    private func archive() throws -> [UInt8] {
        var writer = ArchiveWriter(time: 1_700_000_000)
        var bytes: [UInt8] = []
        for member in Self.members { bytes += try writer.member(member.name, member.content) }
        return bytes + (try writer.finish())
    }

    /// Reads in pieces of no more than some size.
    private func read(_ bytes: [UInt8], inPiecesOf limit: Int = .max) throws -> [(name: String, content: [UInt8])] {
        var index = 0
        var reader = ArchiveReader { count in
            let piece = Array(bytes[index..<min(bytes.count, index + min(count, limit))])
            index += piece.count
            return piece
        }
        var members: [(name: String, content: [UInt8])] = []
        while let header = try reader.next() { members.append((header.name, try reader.readAll(limit: 1 << 20))) }
        return members
    }

    @Test(arguments: [1, 100, 512, Int.max])
    func whatWasWrittenIsReadInPiecesOfAnySize(limit: Int) throws {
        let found = try read(try archive(), inPiecesOf: limit)
        #expect(found.map(\.name) == Self.members.map(\.name))
        #expect(found.map(\.content) == Self.members.map(\.content))
    }

    @Test func whereverItIsCutItIsIncomplete() throws {
        let whole = try archive()
        for length in whole.indices {
            #expect(throws: BackupError.truncated, "\(length) bytes of \(whole.count)") {
                try read(Array(whole[..<length]))
            }
        }
    }

    @Test func anyChangedByteIsReportedAsDamage() throws {
        let whole = try archive()
        for index in whole.indices {
            var changed = whole
            changed[index] ^= UInt8(truncatingIfNeeded: 1 << (index % 8))
            #expect(throws: BackupError.self, "byte \(index)") { try read(changed) }
        }
    }

    @Test func aMemberThatIsNotWhatWasWrittenIsNamed() throws {
        var changed = try archive()
        changed[512 + 512 + 512] ^= 1
        #expect(throws: BackupError.damaged("'martlet.db' is not what was written")) { try read(changed) }
    }

    @Test func nothingMayFollow() throws {
        #expect(throws: BackupError.damaged("something follows its end")) { try read(try archive() + [0]) }
    }

    @Test func membersAreNeitherLeftOutNorAdded() throws {
        let whole = try archive()
        #expect(throws: BackupError.self, "the first is left out") { try read(Array(whole[1024...])) }
        #expect(throws: BackupError.self, "the first comes twice") { try read(whole[..<1024] + whole) }
    }

    @Test(arguments: [0, 1, 511, 512, 513, (1 << 33) - 1, 1 << 33, 1 << 40, .max - 1024] as [Int64])
    func lengthsOfAnySizeAreWrittenAndRead(size: Int64) throws {
        let header = ArchiveHeader(name: "martlet.db", size: size, time: 1_700_000_000)
        #expect(header.bytes.count == 512)
        #expect(ArchiveHeader(header.bytes) == header)
        #expect((size + Int64(header.padding)) % 512 == 0)
    }

    @Test func aHeaderIsAsOthersWriteIt() throws {
        let bytes = ArchiveHeader(name: "progress/7", size: 1000, time: 0o14_524_456_400).bytes
        #expect(String(decoding: bytes[..<10], as: UTF8.self) == "progress/7")
        #expect(String(decoding: bytes[124..<135], as: UTF8.self) == "00000001750")
        #expect(String(decoding: bytes[136..<147], as: UTF8.self) == "14524456400")
        #expect(Array(bytes[257..<265]) == Array("ustar\u{0}00".utf8))
        var blank = bytes
        blank.replaceSubrange(148..<156, with: Array(repeating: 0x20, count: 8))
        let sum = String(blank.reduce(0) { $0 + Int($1) }, radix: 8)
        #expect(Array(bytes[148..<156]) == Array(("00000" + sum).utf8.suffix(6)) + [0, 0x20])
    }
}
