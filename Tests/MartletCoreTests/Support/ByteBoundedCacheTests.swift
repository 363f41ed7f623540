import Testing

@testable import MartletCore

struct ByteBoundedCacheTests {
    /// The same in the plainest way: a list in the order of use, the newest last.
    private struct Reference {
        let byteLimit: Int
        var entries: [(key: Int, value: Int, bytes: Int)] = []

        var bytes: Int { entries.reduce(0) { $0 + $1.bytes } }

        mutating func value(for key: Int) -> Int? {
            guard let index = entries.firstIndex(where: { $0.key == key }) else { return nil }
            entries.append(entries.remove(at: index))
            return entries.last?.value
        }

        mutating func insert(_ value: Int, for key: Int, bytes: Int) {
            entries.removeAll { $0.key == key }
            let cost = bytes + ByteBoundedCache<Int, Int>.entryBytes
            guard cost <= byteLimit else { return }
            while self.bytes + cost > byteLimit { entries.removeFirst() }
            entries.append((key, value, cost))
        }
    }

    @Test(arguments: 0..<20 as Range<UInt64>)
    func theCacheKeepsWhatAPlainListWouldKeep(seed: UInt64) {
        var generator = SplitMix(state: seed)
        let limit = Int.random(in: 100...3000, using: &generator)
        var cache = ByteBoundedCache<Int, Int>(byteLimit: limit)
        var reference = Reference(byteLimit: limit)
        for step in 0..<2000 {
            let key = Int.random(in: 0..<12, using: &generator)
            switch Int.random(in: 0..<10, using: &generator) {
            case 0..<5:
                let bytes = Int.random(in: 0...limit / 3, using: &generator)
                cache.insert(step, for: key, bytes: bytes)
                reference.insert(step, for: key, bytes: bytes)
            case 5..<8: #expect(cache.value(for: key) == reference.value(for: key))
            case 8:
                cache.removeValue(for: key)
                reference.entries.removeAll { $0.key == key }
            default:
                cache.removeAll { $0 % 3 == 0 && $1 % 2 == 0 }
                reference.entries.removeAll { $0.key % 3 == 0 && $0.value % 2 == 0 }
            }
            #expect(cache.bytes == reference.bytes)
            #expect(cache.bytes <= limit)
            #expect(cache.count == reference.entries.count)
            #expect((0..<12).filter(cache.contains) == reference.entries.map(\.key).sorted())
        }
    }

    @Test func theLeastRecentlyUsedGoesFirst() {
        let entry = ByteBoundedCache<String, Int>.entryBytes
        var cache = ByteBoundedCache<String, Int>(byteLimit: 3 * (entry + 10))
        for (number, key) in ["a", "b", "c"].enumerated() { cache.insert(number, for: key, bytes: 10) }
        #expect(cache.value(for: "a") == 0)
        cache.insert(3, for: "d", bytes: 10)
        #expect(["a", "b", "c", "d"].filter(cache.contains) == ["a", "c", "d"])
    }

    @Test func anEntryLargerThanTheLimitIsNotKeptAndEvictsNothing() {
        var cache = ByteBoundedCache<String, Int>(byteLimit: 1000)
        cache.insert(1, for: "a", bytes: 10)
        cache.insert(2, for: "b", bytes: 1000)
        #expect(cache.value(for: "a") == 1)
        #expect(cache.value(for: "b") == nil)
        cache.insert(3, for: "a", bytes: 1000)
        #expect(cache.count == 0)
        #expect(cache.bytes == 0)
    }
}

private struct SplitMix: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var value = state
        value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
        return value ^ (value >> 31)
    }
}
