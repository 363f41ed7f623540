import MartletModel
import Testing

@testable import MartletCore

struct FairTurnsTests {
    private static func lane(_ hub: Int64, _ platform: String = "pigeon") -> LaneID {
        LaneID(hub: Hub.ID(rawValue: hub), platform: PlatformID(rawValue: platform))
    }

    /// Lets everything out that may run, each turn over before the next one begins.
    private func order(_ turns: inout LaneScheduler<String>, sent: Int = 1000, most: Int = 100) -> [String] {
        var order: [String] = []
        while order.count < most, let item = turns.item(cost: sent) {
            order.append(item)
            turns.end(in: Self.lane(Int64(String(item.prefix(1)))!), cost: sent, sent: sent)
        }
        return order
    }

    @Test func hubsTakeTurns() {
        var turns = LaneScheduler<String>(slots: 8)
        for number in 1...3 { turns.add("1 \(number)", in: Self.lane(1)) }
        for number in 1...2 { turns.add("2 \(number)", in: Self.lane(2)) }
        turns.add("3 1", in: Self.lane(3))
        #expect(order(&turns) == ["1 1", "2 1", "3 1", "1 2", "2 2", "1 3"])
    }

    @Test func aHubThatSendsMoreInATurnHasFewerTurns() {
        var turns = LaneScheduler<String>(slots: 8)
        for number in 1...4 {
            turns.add("1 \(number)", in: Self.lane(1))
            turns.add("2 \(number)", in: Self.lane(2))
        }
        var sent: [String: Int] = [:]
        for _ in 0..<5 {
            guard let item = turns.item(cost: 0) else { break }
            let hub = String(item.prefix(1))
            sent[hub, default: 0] += 1
            turns.end(in: Self.lane(Int64(hub)!), cost: 0, sent: hub == "1" ? 1000 : 250)
        }
        #expect(sent == ["1": 1, "2": 4])
    }

    @Test func aHubThatWasIdleDoesNotMakeUpForIt() {
        var turns = LaneScheduler<String>(slots: 8)
        for number in 1...20 { turns.add("1 \(number)", in: Self.lane(1)) }
        _ = order(&turns, most: 10)
        for number in 1...3 { turns.add("2 \(number)", in: Self.lane(2)) }
        #expect(order(&turns, most: 6).map { $0.prefix(1) } == ["2", "1", "2", "1", "2", "1"])
    }

    @Test func aHubThatReturnsAtOnceWasNotIdle() {
        var turns = LaneScheduler<String>(slots: 8)
        turns.add("1 a", in: Self.lane(1))
        for number in 1...4 { turns.add("2 \(number)", in: Self.lane(2)) }
        #expect(order(&turns, sent: 5000, most: 1) == ["1 a"])
        turns.add("1 b", in: Self.lane(1))
        #expect(order(&turns, sent: 5000, most: 3) == ["2 1", "1 b", "2 2"])
    }

    @Test func thePlatformsOfAHubTakeTurns() {
        var turns = LaneScheduler<String>(slots: 100)
        for number in 1...3 { turns.add("1 p\(number)", in: Self.lane(1)) }
        for number in 1...2 { turns.add("1 d\(number)", in: Self.lane(1, "dove")) }
        #expect((0..<5).map { _ in turns.item(cost: 1) } == ["1 p1", "1 d1", "1 p2", "1 d2", "1 p3"])
    }

    @Test func aLaneAndAHubLeaveRoomForOthers() {
        var turns = LaneScheduler<Int>(slots: 30)
        for number in 1...50 {
            turns.add(number, in: Self.lane(1))
            turns.add(number, in: Self.lane(1, "dove"))
            turns.add(number, in: Self.lane(1, "crow"))
        }
        var begun = 0
        while turns.item(cost: 1) != nil { begun += 1 }
        #expect(begun == 15, "half of all")
        let platforms = ["pigeon", "dove", "crow"].map { turns.running(in: Self.lane(1, $0)) }
        #expect(platforms == [5, 5, 5])
        turns.add(1, in: Self.lane(2))
        #expect(turns.item(cost: 1) == 1)
        #expect(turns.item(cost: 1) == nil)
    }

    @Test func aLaneAloneHasAThird() {
        var turns = LaneScheduler<Int>(slots: 30)
        for number in 1...50 { turns.add(number, in: Self.lane(1)) }
        var begun = 0
        while turns.item(cost: 1) != nil { begun += 1 }
        #expect(begun == 10)
    }

    @Test(arguments: [1, 2, 3]) func fewSlotsAreUsed(slots: Int) {
        var turns = LaneScheduler<Int>(slots: slots)
        turns.add(1, in: Self.lane(1))
        turns.add(2, in: Self.lane(1))
        #expect(turns.item(cost: 1) == 1)
        turns.end(in: Self.lane(1), cost: 1, sent: 1)
        #expect(turns.item(cost: 1) == 2)
    }

    @Test func idleHubsAreNotRemembered() {
        var turns = LaneScheduler<String>(slots: 8)
        for hub in 1...9 { turns.add("\(hub) a", in: Self.lane(Int64(hub))) }
        #expect(order(&turns).count == 9)
        #expect(turns.hubCount == 0)
    }

    /// Hubs of which some are stuck for ever: the others get the same, and all that they want.
    @Test(arguments: 0..<10) func stuckHubsDelayNoOther(seed: UInt64) {
        var random = Seeded(seed)
        var turns = LaneScheduler<Int64>(slots: 32)
        let stuck: Set<Int64> = [1, 2, 3, 4]
        var isWaiting: [Int64: Int] = [:]
        var running: [Int64] = []
        var served: [Int64: Int] = [:]
        for step in 0..<4000 {
            for hub in Int64(1)...8 where isWaiting[hub, default: 0] < 50 {
                turns.add(hub, in: Self.lane(hub))
                isWaiting[hub, default: 0] += 1
            }
            while let hub = turns.item(cost: 10) {
                isWaiting[hub, default: 0] -= 1
                if !stuck.contains(hub) { running.append(hub) }
            }
            #expect(turns.running < 32, "there is always a slot for whoever comes anew")
            guard let index = running.indices.randomElement(using: &random) else { break }
            let hub = running.remove(at: index)
            let sent = Int.random(in: 1...40, using: &random)
            if step > 200 { served[hub, default: 0] += sent + LaneScheduler<Int64>.turnCost }
            turns.end(in: Self.lane(hub), cost: 10, sent: sent)
        }
        let most = served.values.max() ?? 0
        let least = served.values.min() ?? 0
        #expect(served.count == 4)
        #expect(least * 10 > most * 8, "\(served)")
        #expect(turns.waiting == isWaiting.values.reduce(0, +))
    }
}

extension LaneScheduler {
    /// Whose turn it is, without its lane.
    fileprivate mutating func item(cost: Int) -> Item? { next(cost: cost)?.item }
}
