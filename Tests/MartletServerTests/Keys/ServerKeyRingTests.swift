import MartletCrypto
import Testing

@testable import MartletServer

struct ServerKeyRingTests {
    private let texts = ["aa", "bb", "cc"].map { String(repeating: $0, count: 32) }

    @Test(arguments: [",", "\n", " , ", "\r\n"])
    func keysAreReadNewestFirst(separator: String) throws {
        let ring = try #require(ServerKeyRing(texts.joined(separator: separator) + "\n"))
        #expect(ring.keys.map(\.text) == texts)
        #expect(ring.newest.text == texts[0])
        #expect(ring.oldest.text == texts[2])
        #expect(ServerKeyRing(ring.text)?.keys.map(\.id) == ring.keys.map(\.id))
    }

    @Test func idsTellKeysApart() throws {
        let ring = try #require(ServerKeyRing(texts.joined(separator: ",")))
        #expect(Set(ring.keys.map(\.id)).count == 3)
        #expect(ring.keys.allSatisfy { $0.id.count == 4 && !$0.text.contains(Hex.encode($0.id)) })
    }

    @Test(arguments: ["", "aa", ",", "x", String(repeating: "g", count: 64)])
    func invalidKeysAreRefused(text: String) {
        #expect(ServerKeyRing(text) == nil)
        #expect(ServerKeyRing("\(texts[0]),\(text)x") == nil)
    }

    @Test func aKeyTwiceIsRefused() {
        #expect(ServerKeyRing("\(texts[0]),\(texts[1]),\(texts[0])") == nil)
    }

    @Test func thereAreNotTooManyKeys() throws {
        var ring = ServerKeyRing(try ServerKey.generate())
        for _ in 1..<ServerKeyRing.countLimit { #expect(ring.add(try ServerKey.generate())) }
        #expect(!ring.add(try ServerKey.generate()))
        #expect(ring.keys.count == 8)
    }

    @Test func olderKeysAreRetired() throws {
        var ring = try #require(ServerKeyRing(texts.joined(separator: ",")))
        ring.retire(olderThan: ring.keys[1].id)
        #expect(ring.keys.map(\.text) == Array(texts.prefix(2)))
        ring.retire(olderThan: [1, 2, 3, 4])
        #expect(ring.keys.count == 2)
    }
}
