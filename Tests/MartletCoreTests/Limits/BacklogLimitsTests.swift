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

    private func excess(_ hub: Int, user: BacklogSize, adding: Int64 = 1) -> BacklogExcess? {
        let size = BacklogSize(notifications: hub, bytes: 0)
        return BacklogLimits(notifications: 20_000, standard: 20_000)
            .excess(hub: size, all: size, user: user, adding: adding)
    }

    @Test func aUserMayFillAHundredthOfTheBacklogOfAHub() {
        #expect(excess(199, user: BacklogSize(notifications: 199, bytes: 0)) == nil)
        #expect(excess(200, user: BacklogSize(notifications: 200, bytes: 0)) == .user)
        let bytes: Int64 = 1 << 20
        #expect(excess(20, user: BacklogSize(notifications: 20, bytes: bytes - 1)) == nil)
        #expect(excess(20, user: BacklogSize(notifications: 20, bytes: bytes)) == .user)
    }

    @Test("A user has at least a hundred notifications, if that is at most half of what the hub may have")
    func aUserHasAtLeastAHundredNotifications() {
        for (limit, share) in [(10_000_000, 100_000), (300, 100), (200, 100), (100, 50), (2, 1), (1, 1)] {
            let limits = BacklogLimits(notifications: limit, standard: 100_000)
            let (hub, all) = (BacklogSize(notifications: 0, bytes: 0), BacklogSize(notifications: 0, bytes: 0))
            let below = BacklogSize(notifications: share - 1, bytes: 0)
            #expect(limits.excess(hub: hub, all: all, user: below, adding: 65_536) == nil)
            let full = BacklogSize(notifications: share, bytes: 0)
            #expect(limits.excess(hub: hub, all: all, user: full, adding: 0) == .user)
        }
    }

    @Test func theUsersOfAHubLeaveATenthToOthers() {
        let nothing = BacklogSize(notifications: 0, bytes: 0)
        #expect(excess(17_999, user: nothing) == nil)
        #expect(excess(18_000, user: nothing) == .hub)
        let size = BacklogSize(notifications: 18_000, bytes: 0)
        #expect(BacklogLimits(notifications: 20_000, standard: 20_000).excess(hub: size, all: size, adding: 1) == nil)
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
