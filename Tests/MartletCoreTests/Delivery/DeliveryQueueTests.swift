import MartletModel
import Testing

@testable import MartletCore

struct DeliveryQueueTests {
    private let now = Timestamp(seconds: 1000)

    private static func progress(_ sequence: Int64, hub: Int64 = 1) -> DeliveryProgress {
        let platform = PlatformID(rawValue: "pigeon")
        let draft = NotificationDraft(
            id: NotificationID(high: 0, low: UInt64(sequence)), hub: Hub.ID(rawValue: hub),
            content: .native(platform, Message(body: [])), target: .audience(nil), acceptedAt: Timestamp(seconds: 0),
            expiresAt: .distantFuture)
        return DeliveryProgress(
            Delivery(
                id: id(sequence), notification: Notification(sequence: sequence, draft), platform: platform,
                bounds: .none))
    }

    private static func id(_ number: some BinaryInteger) -> Delivery.ID { Delivery.ID(rawValue: Int64(number)) }

    /// A queue that knows that the store has nothing.
    private func emptyQueue(limit: Int) -> DeliveryQueue {
        var queue = DeliveryQueue(limit: limit)
        _ = queue.wantsMore(at: now)
        queue.fill([], isAll: true)
        return queue
    }

    private func nextSequence(_ queue: inout DeliveryQueue, limit: Int = .max, at moment: Timestamp? = nil) -> Int64? {
        switch queue.next(limit: limit, at: moment ?? now) {
        case .deliver(let progress): progress.delivery.id.rawValue
        case .resume(let id, _): id.rawValue
        case .wait: nil
        }
    }

    @Test func notificationsAreDeliveredInTheOrderOfTheirComing() {
        var queue = emptyQueue(limit: 10)
        for sequence in 1...3 { queue.add(Self.progress(Int64(sequence))) }
        let order = (0..<4).map { _ in nextSequence(&queue) }
        #expect(order == [1, 2, 3, nil])
    }

    @Test func noMoreRunThanAllowed() {
        var queue = emptyQueue(limit: 10)
        for sequence in 1...3 { queue.add(Self.progress(Int64(sequence))) }
        #expect(nextSequence(&queue, limit: 1) == 1)
        #expect(nextSequence(&queue, limit: 1) == nil)
        queue.end(Self.id(1), in: Hub.ID(rawValue: 1), .finished, at: now)
        #expect(nextSequence(&queue, limit: 1) == 2)
    }

    @Test func whatFindsNoRoomIsReadFromTheStoreLater() {
        var queue = emptyQueue(limit: 2)
        for sequence in 1...4 { queue.add(Self.progress(Int64(sequence))) }
        #expect(queue.waitingCount == 2)
        #expect([nextSequence(&queue), nextSequence(&queue)] == [1, 2])
        #expect(queue.wantsMore(at: now) == Self.id(2))
        queue.fill([Self.progress(3), Self.progress(4)], isAll: true)
        #expect([nextSequence(&queue), nextSequence(&queue)] == [3, 4])
    }

    @Test func whatComesWhileTheStoreIsReadIsNotMissed() {
        var queue = emptyQueue(limit: 2)
        for sequence in 1...3 { queue.add(Self.progress(Int64(sequence))) }
        #expect([nextSequence(&queue), nextSequence(&queue)] == [1, 2])
        #expect(queue.wantsMore(at: now) == Self.id(2))
        queue.add(Self.progress(4))
        queue.fill([Self.progress(3)], isAll: true)
        #expect(nextSequence(&queue) == 3)
        #expect(queue.wantsMore(at: now) != nil)
        queue.fill([Self.progress(3), Self.progress(4)], isAll: true)
        #expect(nextSequence(&queue) == 4)
        #expect(nextSequence(&queue) == nil)
    }

    @Test func whatEndsWhileTheStoreIsReadIsNotDeliveredAgain() {
        var queue = DeliveryQueue(limit: 4)
        _ = queue.wantsMore(at: now)
        queue.fill([Self.progress(1)], isAll: false)
        #expect(nextSequence(&queue) == 1)
        #expect(queue.wantsMore(at: now) == Self.id(1))
        queue.end(Self.id(1), in: Hub.ID(rawValue: 1), .finished, at: now)
        queue.fill([Self.progress(1)], isAll: true)
        #expect(nextSequence(&queue) == nil)
    }

    @Test func whatWaitsIsResumedAtItsTimeTheSoonestFirst() {
        var queue = emptyQueue(limit: 4)
        for sequence in 1...3 { queue.add(Self.progress(Int64(sequence))) }
        for (sequence, seconds) in [(1, 30), (2, 10), (3, 20)] {
            #expect(nextSequence(&queue) == Int64(sequence))
            queue.end(
                Self.id(Int64(sequence)), in: Hub.ID(rawValue: 1), .waiting(until: now + .seconds(seconds)), at: now)
        }
        guard case .wait(let until) = queue.next(limit: 9, at: now) else {
            Issue.record("nothing is due yet")
            return
        }
        #expect(until == now + .seconds(10))
        let later = now + .seconds(60)
        #expect((0..<3).map { _ in nextSequence(&queue, at: later) } == [2, 3, 1])
    }

    @Test func aHubThatIsHurriedIsResumedAtOnce() {
        var queue = emptyQueue(limit: 4)
        queue.add(Self.progress(1, hub: 1))
        queue.add(Self.progress(2, hub: 2))
        for sequence in [Int64(1), 2] {
            #expect(nextSequence(&queue) == sequence)
            queue.end(Self.id(sequence), in: Hub.ID(rawValue: sequence), .waiting(until: now + .seconds(60)), at: now)
        }
        queue.hurry(Hub.ID(rawValue: 2), at: now)
        #expect(nextSequence(&queue) == 2)
        #expect(nextSequence(&queue) == nil)
    }

    @Test func ofWhatAPausedLaneHoldsUpOneIsSentToSeeAndTheOthersFollowWhenItIsOpen() {
        var queue = emptyQueue(limit: 10)
        let hub = Hub.ID(rawValue: 1)
        let lane = LaneID(hub: hub, platform: PlatformID(rawValue: "pigeon"))
        for sequence in 1...4 { queue.add(Self.progress(Int64(sequence))) }
        for _ in 1...4 { _ = nextSequence(&queue) }
        for sequence in 1...4 {
            queue.end(Self.id(Int64(sequence)), in: hub, .paused(lane, until: now + .seconds(1)), at: now)
        }
        #expect(nextSequence(&queue) == nil)
        var later = now + .seconds(1)
        #expect([nextSequence(&queue, at: later), nextSequence(&queue, at: later)] == [1, nil])
        queue.end(Self.id(1), in: hub, .paused(lane, until: now + .seconds(3)), at: later)
        #expect(nextSequence(&queue, at: later) == nil)
        later = now + .seconds(3)
        #expect(nextSequence(&queue, at: later) == 1)
        queue.end(Self.id(1), in: hub, .finished, at: later)
        #expect([nextSequence(&queue, at: later), nextSequence(&queue, at: later)] == [2, nil], "the next scout")
        queue.release(lane, at: later)
        #expect((0..<3).map { _ in nextSequence(&queue, at: later) } == [3, 4, nil])
    }

    @Test func aReleasedLineBeginsWithItsScoutAndAHurriedHubReleasesItsLines() {
        var queue = emptyQueue(limit: 10)
        let hub = Hub.ID(rawValue: 1)
        let lane = LaneID(hub: hub, platform: PlatformID(rawValue: "pigeon"))
        for round in 0..<2 {
            for sequence in 1...3 { queue.add(Self.progress(Int64(round * 3 + sequence))) }
            let order = (0..<3).compactMap { _ in nextSequence(&queue) }
            for sequence in order {
                queue.end(Self.id(sequence), in: hub, .paused(lane, until: now + .seconds(9)), at: now)
            }
            if round == 0 { queue.release(lane, at: now) } else { queue.hurry(hub, at: now) }
            #expect((0..<4).map { _ in nextSequence(&queue) } == order + [nil])
            for sequence in order { queue.end(Self.id(sequence), in: hub, .finished, at: now) }
        }
    }

    @Test func whatIsDueAgainAndWhatIsNewTakeTurns() {
        var queue = emptyQueue(limit: 10)
        for sequence in 1...2 { queue.add(Self.progress(Int64(sequence))) }
        for _ in 1...2 { _ = nextSequence(&queue) }
        for sequence in 11...14 { queue.add(Self.progress(Int64(sequence))) }
        for sequence in 1...2 {
            queue.end(Self.id(Int64(sequence)), in: Hub.ID(rawValue: 1), .waiting(until: now), at: now)
        }
        #expect((0..<7).map { _ in nextSequence(&queue) } == [1, 11, 2, 12, 13, 14, nil])
    }

    @Test func whatStorageFailsIsTriedLessAndLessOften() {
        var queue = emptyQueue(limit: 10)
        let hub = Hub.ID(rawValue: 1)
        queue.add(Self.progress(1))
        var moment = now
        var waits: [Int64] = []
        for _ in 0..<8 {
            #expect(nextSequence(&queue, at: moment) == 1)
            queue.end(Self.id(1), in: hub, .failed(StorageError(.full, "no room")), at: moment)
            guard case .wait(let until?) = queue.next(limit: 9, at: moment) else { return }
            waits.append((until - moment).components.seconds)
            moment = until
        }
        #expect(waits == [1, 2, 4, 8, 16, 32, 64, 64])
    }

    @Test func arrivalsWithoutEndDoNotKeepTheStoreFromBeingReadOn() {
        var queue = DeliveryQueue(limit: 2)
        let hub = Hub.ID(rawValue: 1)
        var read: [Int64] = []
        for number in 0..<4 {
            guard let after = queue.wantsMore(at: now)?.rawValue else { break }
            read.append(after)
            queue.add(Self.progress(Int64(100 + number)))
            queue.fill([Self.progress(after + 1), Self.progress(after + 2)], isAll: false)
            for _ in 0..<2 {
                guard let next = nextSequence(&queue) else { continue }
                queue.end(Self.id(next), in: hub, .waiting(until: now + .seconds(60)), at: now)
            }
        }
        #expect(read == [0, 2, 4, 6])
    }

    /// Random arrivals, ends and readings: each notification is delivered exactly once between two of its ends, and
    /// none is left behind.
    @Test(arguments: 0..<20)
    func everyNotificationIsDelivered(seed: UInt64) {
        var random = Seeded(seed)
        var queue = DeliveryQueue(limit: 3)
        var store: [Int64] = []
        var running: Set<Int64> = []
        var delivered: [Int64] = []
        var sequence: Int64 = 0
        for step in 0..<600 {
            let isArriving = step < 300 && Bool.random(using: &random)
            if isArriving {
                sequence += 1
                store.append(sequence)
                queue.add(Self.progress(sequence))
            }
            if let after = queue.wantsMore(at: now)?.rawValue {
                let found = store.filter { $0 > after }.prefix(3)
                if Bool.random(using: &random), let ended = running.randomElement(using: &random) {
                    end(ended, &queue, &store, &running)
                }
                queue.fill(found.map { Self.progress($0) }, isAll: found.count < 3)
            }
            if let next = nextSequence(&queue, limit: 4) {
                #expect(running.insert(next).inserted)
                delivered.append(next)
            } else if let ended = running.randomElement(using: &random) {
                end(ended, &queue, &store, &running)
            }
        }
        #expect(delivered.count == Set(delivered).count, "delivered twice")
        #expect(Set(delivered) == Set(1...max(sequence, 1)))
    }

    private func end(
        _ sequence: Int64, _ queue: inout DeliveryQueue, _ store: inout [Int64], _ running: inout Set<Int64>
    ) {
        store.removeAll { $0 == sequence }
        running.remove(sequence)
        queue.end(Self.id(sequence), in: Hub.ID(rawValue: 1), .finished, at: now)
    }
}

/// A generator that gives the same numbers again (SplitMix64).
struct Seeded: RandomNumberGenerator {
    private var state: UInt64

    init(_ seed: UInt64) {
        state = seed
    }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
