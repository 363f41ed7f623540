import MartletHTTP
import Testing

@testable import MartletNetwork

@Suite("A batch goes to the pool that has the least in hand for each of its connections")
struct PoolGroupTests {
    private static func group(loops: Int, connectionLimit: Int = 64) -> PoolGroup {
        let settings = TransportSettings(connectionLimit: connectionLimit)
        return PoolGroup(PoolGroup.Key(HTTPOrigin(scheme: .https, host: "push.example"), settings), loopCount: loops)
    }

    @Test func poolsThatAreEquallyFreeTakeTurns() {
        let group = Self.group(loops: 3)
        let indices = (0..<6).map { _ in group.nextIndex() }
        #expect(Set(indices.prefix(3)) == [0, 1, 2])
        #expect(indices.prefix(3) == indices.suffix(3))
    }

    @Test func eightTimesAsManyConnectionsGetEightTimesAsMuch() {
        let group = Self.group(loops: 2)
        group.loads[0].record(connections: 1)
        group.loads[1].record(connections: 8)
        var dealt = [0, 0]
        for _ in 0..<900 {
            let index = group.nextIndex()
            group.loads[index].add(50)
            dealt[index] += 1
        }
        #expect(abs(dealt[0] - 100) <= 2)
        #expect(dealt[0] + dealt[1] == 900)
    }

    @Test func reportedItemsAreNoLongerOutstanding() {
        let group = Self.group(loops: 2)
        group.loads[0].add(10)
        group.loads[1].add(11)
        #expect((0..<4).map { _ in group.nextIndex() } == [0, 0, 0, 0])
        group.loads[1].remove(2)
        #expect((0..<4).map { _ in group.nextIndex() } == [1, 1, 1, 1])
        #expect(!group.isIdle)
        group.loads[0].remove(10)
        group.loads[1].remove(9)
        #expect(group.isIdle)
    }

    @Test(arguments: [1, 2, 3, 8, 64])
    func thePoolsShareTheConnectionsToTheOrigin(limit: Int) {
        let group = Self.group(loops: 3, connectionLimit: limit)
        #expect(group.loads.count == min(3, limit))
        let shares = group.loads.indices.map(group.connectionLimit)
        #expect(shares.reduce(0, +) == limit)
        #expect(shares.allSatisfy { $0 > 0 })
        #expect(Set(group.loads.indices.map(group.loop)).count == group.loads.count)
    }
}
