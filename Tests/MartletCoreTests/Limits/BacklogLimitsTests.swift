import MartletCore
import Testing

struct BacklogLimitsTests {
    private let limits = BacklogLimits(notifications: 100, standard: 100)

    private func excess(_ hub: Int, all: Int, bytes: Int64 = 0, adding: Int64 = 1) -> BacklogExcess? {
        limits.excess(
            hub: BacklogSize(notifications: hub, bytes: bytes), all: BacklogSize(notifications: all, bytes: bytes),
            adding: adding)
    }

    @Test func aHubMayFillItsOwnBacklogAndNoMore() {
        #expect(excess(99, all: 99) == nil)
        #expect(excess(100, all: 100) == .hub)
    }

    @Test func largeContentsFillItSooner() {
        #expect(excess(1, all: 1, bytes: (1 << 20) - 1) == nil)
        #expect(excess(1, all: 1, bytes: 1 << 20) == .hub)
        // The largest is taken by an empty hub whatever its limit.
        let small = BacklogLimits(notifications: 1, standard: 1)
        let nothing = BacklogSize(notifications: 0, bytes: 0)
        #expect(small.excess(hub: nothing, all: nothing, adding: 65_536) == nil)
    }

    @Test func theNearerTheWholeIsToItsLimitTheLessAHubMayHave() {
        #expect(excess(49, all: 950) == nil)
        #expect(excess(50, all: 950) == .all)
        #expect(excess(0, all: 999) == nil)
        #expect(excess(0, all: 1000) == .all)
    }

    /// Greedy hubs, in any number and order, leave room for another one.
    @Test(arguments: [1, 2, 9, 10, 11, 30, 200])
    func thereIsRoomForAHubThatHasNone(greedy count: Int) {
        var hubs = [Int](repeating: 0, count: count)
        var isMoving = true
        while isMoving {
            isMoving = false
            for index in hubs.indices where excess(hubs[index], all: hubs.reduce(0, +)) == nil {
                hubs[index] += 1
                isMoving = true
            }
        }
        let all = hubs.reduce(0, +)
        #expect(all < 1000)
        #expect(excess(0, all: all) == nil)
    }
}
