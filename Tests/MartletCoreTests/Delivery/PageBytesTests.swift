import MartletModel
import Testing

@testable import MartletCore

struct PageBytesTests {
    @Test func aPageMayTakeWhatItsMembersAreExpectedTo() {
        let pages = PageBytes(limit: 64 << 20)
        let leases = [1, 50, 1000, 5000].map { pages.reserve(members: $0) }
        #expect(leases.map(\.granted) == [256 << 10, 256 << 10, 1_024_000, 4 << 20])
        #expect(pages.reserve(members: 100, bodyBytes: 4096).granted == 512_000)
        #expect(pages.inHand == leases.reduce(0) { $0 + $1.granted })
    }

    @Test func unneededMemoryIsReleasedAtOnceAndTheRestWithThePage() {
        let pages = PageBytes()
        var lease: PageLease? = pages.reserve(members: 5000)
        lease?.settle(at: 1000)
        #expect(pages.inHand == 1000)
        lease?.settle(at: 3000)
        #expect(pages.inHand == 3000)
        lease = nil
        #expect(pages.inHand == 0)
    }

    @Test("However many pages are in hand, each has some room, and all together little more than the limit")
    func theSumIsBounded() {
        let pages = PageBytes(limit: 20 << 20)
        var leases: [PageLease] = []
        #expect(pages.hasRoom)
        for _ in 0..<100 { leases.append(pages.reserve(members: 5000)) }
        #expect(!pages.hasRoom)
        #expect(leases.prefix(5).allSatisfy { $0.granted == 4 << 20 })
        #expect(leases.dropFirst(5).allSatisfy { $0.granted == PageBytes.least })
        #expect(pages.inHand == (20 << 20) + 95 * PageBytes.least)
        leases = []
        #expect(pages.inHand == 0)
    }
}
