import MartletModel
import Testing

@testable import MartletCore

struct DeliveryQueueTests {
    private let now = Timestamp(seconds: 1000)
    private let lane = LaneID(hub: Hub.ID(rawValue: 1), platform: PlatformID(rawValue: "pigeon"))

    static func progress(
        _ sequence: Int64, hub: Int64 = 1, body: [UInt8] = [], expiresAt: Timestamp = .distantFuture
    ) -> DeliveryProgress {
        let platform = PlatformID(rawValue: "pigeon")
        let draft = NotificationDraft(
            id: NotificationID(high: 0, low: UInt64(sequence)), hub: Hub.ID(rawValue: hub),
            content: .native(platform, Message(body: body)), target: .audience(nil), acceptedAt: Timestamp(seconds: 0),
            expiresAt: expiresAt)
        return DeliveryProgress(
            Delivery(
                id: id(sequence), notification: Notification(sequence: sequence, draft), platform: platform,
                bounds: .none))
    }

    @Test("Deliveries that wait for a retry look for gone devices in portions, one after the other, and others do not")
    func deliveriesLookInPortions() {
        var queue = emptyQueue()
        for number: Int64 in 1...5 {
            queue.add(Self.progress(number))
            _ = queue.next(at: now)
        }
        for number in [1, 2, 4] { queue.end(Self.id(number), .waiting(until: now + .seconds(600)), at: now) }
        queue.end(Self.id(3), .held(until: now + .seconds(600)), at: now)
        queue.end(Self.id(5), .waiting(until: now + .seconds(30)), at: now)
        func look() -> [Int64] {
            queue.look(beyond: now + .seconds(60), limit: 2)
            var found: [Int64] = []
            while let number = nextSequence(&queue) {
                let looks = [queue.takeLook(Self.id(number)), queue.takeLook(Self.id(number))]
                #expect(looks == [true, false])
                found.append(number)
                queue.end(Self.id(number), .waiting(until: now + .seconds(600)), at: now)
            }
            return found
        }
        #expect(look() == [1, 2])
        #expect(look() == [4])
        #expect(look() == [1, 2])
        for number in [1, 2, 4] { queue.wake([Self.id(number)]) }
        while let number = nextSequence(&queue) {
            let looks = queue.takeLook(Self.id(number))
            #expect(!looks)
            queue.end(Self.id(number), .finished, at: now)
        }
        queue.wake([Self.id(3), Self.id(5)])
        while let number = nextSequence(&queue) { queue.end(Self.id(number), .finished, at: now) }
        #expect(queue.entryCount == 0)
    }

    static func id(_ number: some BinaryInteger) -> Delivery.ID { Delivery.ID(rawValue: Int64(number)) }

    /// A queue that knows that the store has nothing.
    private func emptyQueue(
        slots: Int = 99, waiting: Int = 10, ofAnyHub: Int = 0, held: Int = 10, heldBytes: Int = 1000
    ) -> DeliveryQueue {
        var queue = makeQueue(slots: slots, waiting: waiting, ofAnyHub: ofAnyHub, held: held, heldBytes: heldBytes)
        _ = queue.wantsMore(at: now)
        queue.fill([], isAll: true)
        return queue
    }

    private func makeQueue(
        slots: Int = 99, waiting: Int = 10, ofAnyHub: Int = 0, held: Int = 10, heldBytes: Int = 1000
    ) -> DeliveryQueue {
        DeliveryQueue(
            limits: QueueLimits(
                firstPages: slots, furtherPages: slots, waiting: waiting, waitingOfAnyHub: ofAnyHub, held: held,
                heldBytes: heldBytes),
            pageSize: 5000)
    }

    private func nextSequence(_ queue: inout DeliveryQueue, at timestamp: Timestamp? = nil) -> Int64? {
        switch queue.next(at: timestamp ?? now) {
        case .deliver(let run, _): run.delivery.id.rawValue
        case .resume(let id, _): id.rawValue
        case .wait: nil
        }
    }

    /// Takes what is next, which has a page after it when it comes back.
    private func yieldNext(_ queue: inout DeliveryQueue, sent: Int = 5000) -> Int64? {
        guard case .deliver(var run, _) = queue.next(at: now) else { return nil }
        run.progress.cursor = AudienceMember(channel: ChannelID(rawValue: 1), registration: 1)
        run.sent = sent
        queue.yield(run)
        return run.delivery.id.rawValue
    }

    @Test func notificationsAreDeliveredInTheOrderOfTheirComing() {
        var queue = emptyQueue()
        for sequence in 1...3 { queue.add(Self.progress(Int64(sequence))) }
        let order = (0..<4).map { _ in nextSequence(&queue) }
        #expect(order == [1, 2, 3, nil])
    }

    @Test func anAdvancedDeliveryGoesBeforeTheOthersOfItsLaneOnce() {
        var queue = emptyQueue()
        for sequence in 1...4 { queue.add(Self.progress(Int64(sequence))) }
        let isKnown = (0..<2).map { _ in queue.advance(Self.id(3)) }
        #expect(isKnown == [true, true])
        #expect(queue.waitingCount == 4)
        let order = (0..<5).map { _ in nextSequence(&queue) }
        #expect(order == [3, 1, 2, 4, nil])
        #expect(queue.waitingCount == 0)
        #expect(queue.heldCount == 0)
    }

    @Test func anEndedDeliveryIsNotBegunAgainByItsQueuePosition() {
        var queue = emptyQueue(slots: 1)
        for sequence in 1...2 { queue.add(Self.progress(Int64(sequence))) }
        _ = queue.advance(Self.id(2))
        #expect(nextSequence(&queue) == 2)
        queue.end(Self.id(2), .finished, at: now)
        #expect(nextSequence(&queue) == 1)
        queue.end(Self.id(1), .finished, at: now)
        #expect(nextSequence(&queue) == nil)
    }

    @Test func aDeliveryThatIsOnlyInTheStoreCanBeAdvanced() {
        var queue = emptyQueue(waiting: 2)
        for sequence in 1...4 { queue.add(Self.progress(Int64(sequence))) }
        let isKnown = queue.advance(Self.id(4))
        #expect(!isKnown)
        queue.advance(Self.progress(4))
        #expect([nextSequence(&queue), nextSequence(&queue)] == [4, 1])
    }

    @Test func whatTheStoreToldOfBeforeItsIntakeIsReadAgainAndNotSentTwice() {
        var queue = makeQueue()
        _ = queue.wantsMore(at: now)
        queue.fill([Self.progress(1)], isAll: true)
        #expect(nextSequence(&queue) == 1)
        queue.end(Self.id(1), .finished, at: now)
        queue.add(Self.progress(1))
        guard case .resume(Self.id(1), _) = queue.next(at: now) else {
            Issue.record("it is begun anew")
            return
        }
    }

    @Test func whatWasAdvancedFromTheStoreIsReadAgainInItsTurn() {
        var queue = emptyQueue(waiting: 1)
        #expect(!queue.isLeftToStore(Self.id(1)))
        for sequence in 1...2 { queue.add(Self.progress(Int64(sequence))) }
        #expect(queue.isLeftToStore(Self.id(2)))
        queue.advance(Self.progress(2))
        guard case .resume(Self.id(2), _) = queue.next(at: now) else {
            Issue.record("it is begun as it was read")
            return
        }
        queue.end(Self.id(2), .finished, at: now)
        // Its intake comes late, while there is room for any hub.
        queue.add(Self.progress(2))
        if case .deliver(let run, _) = queue.next(at: now) { #expect(run.delivery.id == Self.id(1)) }
    }

    @Test func whatStandsBeforeAPausedLaneIsItsNextProbeWhereItIsAdvanced() {
        var queue = emptyQueue()
        for sequence in 1...3 { queue.add(Self.progress(Int64(sequence))) }
        for sequence in 1...3 {
            #expect(nextSequence(&queue) == Int64(sequence))
            queue.end(Self.id(sequence), .paused(lane, until: now + .seconds(5)), at: now)
        }
        let isKnown = queue.advance(Self.id(3))
        #expect(isKnown)
        #expect([nextSequence(&queue), nextSequence(&queue)] == [3, nil])
        #expect(nextSequence(&queue, at: now + .seconds(5)) == 1)
    }

    @Test func noMoreRunThanAllowed() {
        var queue = emptyQueue(slots: 1)
        for sequence in 1...3 { queue.add(Self.progress(Int64(sequence))) }
        #expect(nextSequence(&queue) == 1)
        #expect(nextSequence(&queue) == nil)
        queue.end(Self.id(1), .finished, at: now)
        #expect(nextSequence(&queue) == 2)
    }

    @Test func deliveriesThatDoNotFitInMemoryAreReadFromTheStoreLater() {
        var queue = emptyQueue(waiting: 2)
        for sequence in 1...4 { queue.add(Self.progress(Int64(sequence))) }
        #expect(queue.waitingCount == 2)
        #expect([nextSequence(&queue), nextSequence(&queue)] == [1, 2])
        #expect(queue.wantsMore(at: now) == Self.id(2))
        queue.fill([Self.progress(3), Self.progress(4)], isAll: true)
        #expect([nextSequence(&queue), nextSequence(&queue)] == [3, 4])
    }

    @Test func sendsAcceptedWhileTheStoreIsReadAreNotMissed() {
        var queue = emptyQueue(waiting: 2)
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

    /// Where each hub numbers its deliveries, a new one may have a lower id than others that are read.
    @Test func aSendOfAnotherHubThatIsAcceptedWhileTheStoreIsReadIsNotMissed() {
        var queue = emptyQueue(waiting: 2)
        for sequence in [11, 12, 13, 14] as [Int64] { queue.add(Self.progress(sequence)) }
        #expect([nextSequence(&queue), nextSequence(&queue)] == [11, 12])
        #expect(queue.wantsMore(at: now) == Self.id(12))
        queue.add(Self.progress(3, hub: 2))
        queue.fill([Self.progress(13), Self.progress(14)], isAll: true)
        #expect([nextSequence(&queue), nextSequence(&queue)] == [13, 14])
        #expect(queue.wantsMore(at: now) == Self.id(2))
        queue.fill([Self.progress(3, hub: 2), Self.progress(13), Self.progress(14)], isAll: true)
        #expect(nextSequence(&queue) == 3)
        #expect(nextSequence(&queue) == nil)
    }

    @Test func deliveriesThatEndWhileTheStoreIsReadAreNotDeliveredAgain() {
        var queue = makeQueue(waiting: 4)
        _ = queue.wantsMore(at: now)
        queue.fill([Self.progress(1)], isAll: false)
        #expect(nextSequence(&queue) == 1)
        #expect(queue.wantsMore(at: now) == Self.id(1))
        queue.end(Self.id(1), .finished, at: now)
        queue.fill([Self.progress(1)], isAll: true)
        #expect(nextSequence(&queue) == nil)
    }

    @Test func sleepersAreResumedAtTheirTimeTheEarliestFirst() {
        var queue = emptyQueue()
        for sequence in 1...3 { queue.add(Self.progress(Int64(sequence))) }
        for (sequence, seconds) in [(1, 30), (2, 10), (3, 20)] {
            #expect(nextSequence(&queue) == Int64(sequence))
            queue.end(
                Self.id(Int64(sequence)), .waiting(until: now + .seconds(seconds)), at: now)
        }
        guard case .wait(let until) = queue.next(at: now) else {
            Issue.record("nothing is due yet")
            return
        }
        #expect(until == now + .seconds(10))
        let later = now + .seconds(60)
        #expect((0..<3).map { _ in nextSequence(&queue, at: later) } == [2, 3, 1])
    }

    @Test func sleepersAreResumedWhenTheClockIsSetBack() {
        var queue = emptyQueue()
        for sequence in 1...2 {
            queue.add(Self.progress(Int64(sequence)))
            _ = queue.next(at: now)
            queue.end(Self.id(sequence), .waiting(until: now + .seconds(10 * Int64(sequence))), at: now)
        }
        let before = now + .seconds(-500)
        #expect(nextSequence(&queue, at: before) == nil)
        queue.wakeAll()
        #expect((0..<3).map { _ in nextSequence(&queue, at: before) } == [1, 2, nil])
    }

    @Test func aHubThatIsHurriedIsResumedAtOnce() {
        var queue = emptyQueue()
        queue.add(Self.progress(1, hub: 1))
        queue.add(Self.progress(2, hub: 2))
        for sequence in [Int64(1), 2] {
            #expect(nextSequence(&queue) == sequence)
            queue.end(Self.id(sequence), .waiting(until: now + .seconds(60)), at: now)
        }
        queue.hurry(Hub.ID(rawValue: 2))
        #expect(nextSequence(&queue) == 2)
        #expect(nextSequence(&queue) == nil)
    }

    @Test func aPausedLaneSendsOneProbeAndTheOthersFollowWhenItOpens() {
        var queue = emptyQueue()
        for sequence in 1...4 { queue.add(Self.progress(Int64(sequence))) }
        for _ in 1...4 { _ = nextSequence(&queue) }
        for sequence in 1...4 {
            queue.end(Self.id(Int64(sequence)), .paused(lane, until: now + .seconds(1)), at: now)
        }
        #expect(nextSequence(&queue) == nil)
        var later = now + .seconds(1)
        #expect([nextSequence(&queue, at: later), nextSequence(&queue, at: later)] == [1, nil])
        queue.end(Self.id(1), .paused(lane, until: now + .seconds(3)), at: later)
        #expect(nextSequence(&queue, at: later) == nil)
        later = now + .seconds(3)
        #expect(nextSequence(&queue, at: later) == 1)
        queue.end(Self.id(1), .finished, at: later)
        #expect([nextSequence(&queue, at: later), nextSequence(&queue, at: later)] == [2, nil], "the next scout")
        queue.release(lane)
        #expect((0..<3).map { _ in nextSequence(&queue, at: later) } == [3, 4, nil])
    }

    @Test func notificationsThatExpireInAPausedLaneAreAbandoned() {
        var queue = emptyQueue()
        for sequence in 1...4 {
            queue.add(Self.progress(Int64(sequence), expiresAt: now + .seconds(sequence == 3 ? 5 : 3600)))
        }
        for _ in 1...4 { _ = nextSequence(&queue) }
        for sequence in 1...4 { queue.end(Self.id(Int64(sequence)), .paused(lane, until: now + .seconds(60)), at: now) }
        #expect(nextSequence(&queue, at: now + .seconds(4)) == nil)
        let later = now + .seconds(5)
        #expect([nextSequence(&queue, at: later), nextSequence(&queue, at: later)] == [3, nil])
        queue.end(Self.id(3), .finished, at: later)
        queue.release(lane)
        #expect((0..<4).map { _ in nextSequence(&queue, at: later) } == [1, 2, 4, nil])
    }

    @Test func aReleasedLineBeginsWithItsScoutAndAHurriedHubReleasesItsLines() {
        var queue = emptyQueue()
        for round in 0..<2 {
            for sequence in 1...3 { queue.add(Self.progress(Int64(round * 3 + sequence))) }
            let order = (0..<3).compactMap { _ in nextSequence(&queue) }
            for sequence in order {
                queue.end(Self.id(sequence), .paused(lane, until: now + .seconds(9)), at: now)
            }
            if round == 0 { queue.release(lane) } else { queue.hurry(lane.hub) }
            #expect((0..<4).map { _ in nextSequence(&queue) } == order + [nil])
            for sequence in order { queue.end(Self.id(sequence), .finished, at: now) }
        }
    }

    @Test func newDeliveriesDoNotWaitForRetries() {
        var queue = emptyQueue(slots: 3, waiting: 100)
        for sequence in 1...20 { queue.add(Self.progress(Int64(sequence))) }
        for _ in 1...20 {
            guard let next = nextSequence(&queue) else { break }
            queue.end(Self.id(next), .waiting(until: now), at: now)
        }
        #expect(nextSequence(&queue) != nil, "a retry")
        queue.add(Self.progress(21))
        #expect(nextSequence(&queue) == 21)
    }

    @Test func aShortSendWaitsForNoPageOfALongOne() {
        var queue = emptyQueue(slots: 4, waiting: 100)
        for sequence in 1...8 { queue.add(Self.progress(Int64(sequence))) }
        #expect((0..<8).map { _ in yieldNext(&queue) } == [1, 2, 3, 4, 5, 6, 7, 8])
        while nextSequence(&queue) != nil {}
        #expect(queue.load.running == 2)
        queue.add(Self.progress(9))
        #expect(nextSequence(&queue) == 9)
    }

    @Test func longSendsTakeTurnsPageByPageAndHubsByWhatTheySend() {
        var queue = emptyQueue(slots: 4, waiting: 100)
        for (sequence, hub) in [(1, 1), (2, 1), (3, 1), (4, 2)] {
            queue.add(Self.progress(Int64(sequence), hub: Int64(hub)))
        }
        for _ in 1...4 { _ = yieldNext(&queue, sent: 500) }
        let pages = (0..<8).compactMap { _ in yieldNext(&queue) }
        #expect(pages.filter { $0 == 4 }.count == 4, "half of the pages are of the one hub: \(pages)")
        #expect(Set(pages) == [1, 2, 3, 4])
    }

    @Test func aDeliveryThatDoesNotFitInMemoryIsKeptByNumber() {
        var queue = emptyQueue(waiting: 100, held: 3, heldBytes: 25)
        for sequence in 1...3 { queue.add(Self.progress(Int64(sequence), body: Array(repeating: 0, count: 10))) }
        queue.add(Self.progress(4))
        queue.add(Self.progress(5))
        #expect(queue.heldCount == 3)
        var resumed: [Int64] = []
        for _ in 1...5 {
            if case .resume(let id, _) = queue.next(at: now) { resumed.append(id.rawValue) }
        }
        #expect(resumed == [3, 5], "too many bytes, and too many")
        #expect(queue.heldCount == 0)
    }

    @Test func aHubOfWhichLittleWaitsFindsRoomBehindAnyBacklog() {
        var queue = emptyQueue(slots: 9, waiting: 4, ofAnyHub: 2)
        for sequence in 1...50 { queue.add(Self.progress(Int64(sequence))) }
        for sequence in 51...53 { queue.add(Self.progress(Int64(sequence), hub: 2)) }
        #expect(queue.waitingCount == 6)
        let order = (0..<4).map { _ in nextSequence(&queue) }
        #expect(order == [1, 51, 2, 52])
        for sequence in order.compactMap(\.self) { queue.end(Self.id(sequence), .finished, at: now) }
        #expect([nextSequence(&queue), nextSequence(&queue)] == [3, 4])
        #expect(queue.wantsMore(at: now) == Self.id(4), "the rest is in the store")
        queue.fill([5, 6].map { Self.progress($0) }, isAll: false)
        #expect(queue.wantsMore(at: now) == Self.id(6))
    }

    @Test func aDeliveryThatYieldsBeforeAPausedLaneStaysItsScout() {
        var queue = emptyQueue()
        for sequence in 1...2 { queue.add(Self.progress(Int64(sequence))) }
        for _ in 1...2 { _ = nextSequence(&queue) }
        for sequence in 1...2 { queue.end(Self.id(sequence), .paused(lane, until: now + .seconds(1)), at: now) }
        let later = now + .seconds(1)
        #expect(nextSequence(&queue, at: later) == 1)
        var run = DeliveryRun(Self.progress(1))
        run.progress.cursor = AudienceMember(channel: ChannelID(rawValue: 1), registration: 1)
        queue.yield(run)
        #expect([nextSequence(&queue, at: later), nextSequence(&queue, at: later)] == [1, nil])
        queue.end(Self.id(1), .paused(lane, until: later + .seconds(1)), at: later)
        #expect(nextSequence(&queue, at: later) == nil)
        queue.release(lane)
        #expect(
            [nextSequence(&queue, at: later), nextSequence(&queue, at: later), nextSequence(&queue, at: later)]
                == [2, 1, nil])
    }

    @Test func chosenDeliveriesAreWokenWhereverTheyRest() {
        var queue = emptyQueue()
        for sequence in 1...5 { queue.add(Self.progress(Int64(sequence))) }
        for _ in 1...5 { _ = nextSequence(&queue) }
        queue.end(Self.id(1), .waiting(until: now + .seconds(60)), at: now)
        for sequence in 2...5 { queue.end(Self.id(sequence), .paused(lane, until: now + .seconds(60)), at: now) }
        queue.wake([1, 4].reduce(into: []) { $0.insert(Self.id($1)) })
        #expect((0..<3).map { _ in nextSequence(&queue) } == [4, 1, nil])
        for sequence in [1, 4] { queue.end(Self.id(sequence), .finished, at: now) }
        queue.release(lane)
        #expect((0..<4).map { _ in nextSequence(&queue) } == [2, 3, 5, nil])
    }

    @Test func storageFailuresAreRetriedLessAndLessOften() {
        var queue = emptyQueue()
        queue.add(Self.progress(1))
        var timestamp = now
        var waits: [Int64] = []
        for _ in 0..<8 {
            #expect(nextSequence(&queue, at: timestamp) == 1)
            queue.end(Self.id(1), .failed(StorageError(.full, "no room")), at: timestamp)
            guard case .wait(let until?) = queue.next(at: timestamp) else {
                Issue.record("the queue has nothing to wait for")
                return
            }
            waits.append((until - timestamp).components.seconds)
            timestamp = until
        }
        #expect(waits == [1, 2, 4, 8, 16, 32, 64, 64])
    }

    @Test func turnsThatFailTogetherWaitNoLongerThanOne() {
        var queue = emptyQueue(waiting: 30)
        for sequence in 1...20 { queue.add(Self.progress(Int64(sequence))) }
        for sequence in 1...20 { #expect(nextSequence(&queue) == Int64(sequence)) }
        var timestamp = now
        // Storage fails for three seconds; each turn ends a little later than the one before.
        for wait in [1, 2] {
            for number in 0..<20 {
                let later = timestamp + .milliseconds(number * 40)
                queue.end(Self.id(number + 1), .failed(StorageError(.unavailable, "away")), at: later)
            }
            guard case .wait(let until?) = queue.next(at: timestamp + .milliseconds(800)) else {
                Issue.record("the queue has nothing to wait for")
                return
            }
            #expect(until == timestamp + .seconds(wait))
            timestamp = until
            for sequence in 1...20 { #expect(nextSequence(&queue, at: timestamp) == Int64(sequence)) }
        }
        queue.end(Self.id(1), .finished, at: timestamp)
        queue.end(Self.id(2), .failed(StorageError(.unavailable, "away")), at: timestamp)
        guard case .wait(let until?) = queue.next(at: timestamp) else {
            Issue.record("the queue has nothing to wait for")
            return
        }
        #expect(until == timestamp + .seconds(1), "storage has worked since")
    }

    @Test func theFailuresBeforeAClockWasSetBackCountForNothing() {
        var queue = emptyQueue()
        for sequence in 1...2 { queue.add(Self.progress(Int64(sequence))) }
        for _ in 1...2 { _ = nextSequence(&queue) }
        queue.end(Self.id(1), .failed(StorageError(.full, "no room")), at: now)
        queue.wakeAll()
        let earlier = now + .seconds(-600)
        #expect(nextSequence(&queue, at: earlier) == 1)
        queue.end(Self.id(2), .failed(StorageError(.full, "no room")), at: earlier)
        guard case .wait(let until?) = queue.next(at: earlier) else {
            Issue.record("the queue has nothing to wait for")
            return
        }
        #expect(until == earlier + .seconds(1))
    }

    @Test("A turn that comes to nothing waits longer each time, until one has recorded something")
    func aDeliveryWithoutProgressDoesNotSpin() {
        var queue = emptyQueue()
        queue.add(Self.progress(1))
        var timestamp = now
        var waits: [Int64] = []
        for _ in 0..<9 {
            #expect(nextSequence(&queue, at: timestamp) == 1)
            queue.end(Self.id(1), .stalled, at: timestamp)
            guard case .wait(let until?) = queue.next(at: timestamp) else {
                Issue.record("the queue has nothing to wait for")
                return
            }
            waits.append((until - timestamp).wholeMilliseconds)
            timestamp = until
        }
        #expect(waits == [100, 200, 400, 800, 1600, 3200, 6400, 12_800, 12_800])
        #expect(nextSequence(&queue, at: timestamp) == 1)
        queue.end(Self.id(1), .waiting(until: timestamp), at: timestamp)
        #expect(nextSequence(&queue, at: timestamp) == 1)
        queue.end(Self.id(1), .stalled, at: timestamp)
        guard case .wait(let until?) = queue.next(at: timestamp) else {
            Issue.record("the queue has nothing to wait for")
            return
        }
        #expect(until == timestamp + .milliseconds(100))
    }

    @Test func arrivalsWithoutEndDoNotKeepTheStoreFromBeingReadOn() {
        var queue = makeQueue(waiting: 2)
        var read: [Int64] = []
        for number in 0..<4 {
            guard let after = queue.wantsMore(at: now)?.rawValue else { break }
            read.append(after)
            queue.add(Self.progress(Int64(100 + number)))
            queue.fill([Self.progress(after + 1), Self.progress(after + 2)], isAll: false)
            for _ in 0..<2 {
                guard let next = nextSequence(&queue) else { continue }
                queue.end(Self.id(next), .waiting(until: now + .seconds(60)), at: now)
            }
        }
        #expect(read == [0, 2, 4, 6])
    }

    /// Random arrivals, ends and readings: each notification is delivered exactly once between two of its ends, and
    /// none is left behind.
    @Test(arguments: 0..<20)
    func everyNotificationIsDelivered(seed: UInt64) {
        var random = Seeded(seed)
        var queue = makeQueue(slots: 4, waiting: 3)
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
            if let next = nextSequence(&queue) {
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
        queue.end(Self.id(sequence), .finished, at: now)
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
