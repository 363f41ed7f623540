import Testing

@testable import MartletCore

struct ReachedBlockTests {
    private func check(_ numbers: [Int64], size: Int? = nil) {
        let blocks = DeliveredBitmap.blocks(of: numbers.shuffled())
        #expect(blocks.map(\.index) == Set(numbers.map(DeliveredBitmap.index)).sorted())
        for block in blocks {
            let first = block.index * DeliveredBitmap.size
            let found = (first..<first + DeliveredBitmap.size).filter(block.contains)
            #expect(found == numbers.filter { DeliveredBitmap.index(of: $0) == block.index }.sorted())
            #expect(block.numbers == found)
        }
        if let size { #expect(blocks.map(\.bytes.count) == [size]) }
    }

    @Test func oneMemberTakesThreeBytes() {
        check([1], size: 3)
        check([65_535], size: 3)
        check([10_000_000], size: 3)
    }

    @Test func aBroadcastTakesAsMuchAsItHasGaps() {
        check(Array(0..<65_536), size: 5)
        check(Array(1...60_000).filter { $0 % 10_000 != 0 }.map { Int64($0) }, size: 1 + 6 * 4)
        check([0, 1, 2, 63, 64, 65, 127, 128, 65_533, 65_534, 65_535])
    }

    @Test func whoeverIsScatteredTakesABit() {
        check(stride(from: 0, to: 65_536, by: 2).map { $0 }, size: 1 + 8192)
        check(stride(from: 0, to: 65_536, by: 100).map { $0 }, size: 1 + 656 * 2)
    }

    @Test func fewTakeTheFormThatTheirWordsWouldTake() {
        for _ in 0..<300 {
            let spread = Int64([3, 100, 100_000].randomElement() ?? 3)
            let numbers = (0..<Int.random(in: 1...70)).map { _ in 65_500 + Int64.random(in: 0..<spread) }
            let expected = Set(numbers.map(DeliveredBitmap.index)).sorted().compactMap { index in
                var words = [UInt64](repeating: 0, count: DeliveredBitmap.wordCount)
                for number in numbers where DeliveredBitmap.index(of: number) == index {
                    words[Int(number % DeliveredBitmap.size) / 64] |= 1 << UInt64(number % 64)
                }
                return DeliveredBitmap(index: index, words: words)
            }
            #expect(DeliveredBitmap.blocks(of: numbers) == expected)
        }
    }

    @Test func everyBlockIsOnItsOwn() {
        check([1, 65_536, 65_537, 300_000] + Array(200_000..<270_000))
        #expect(DeliveredBitmap.blocks(of: []).isEmpty)
    }

    @Test func whatNobodyWroteHasNobodyInIt() {
        for bytes: [UInt8] in [[], [9], [0], [1, 0], [2, 0, 0], [2, 0, 0, 0]] {
            let block = DeliveredBitmap(index: 0, bytes: bytes)
            #expect(!(0..<DeliveredBitmap.size).contains(where: block.contains))
            #expect(block.numbers.isEmpty)
        }
    }
}
