import MartletModel
import Testing

@testable import MartletCore

/// Random sends, page durations, stalls, pauses, failures and readings of a store, by a clock that is moved.
struct DeliveryQueueModelTests {
    @Test(arguments: 0..<30) func noHubStarvesNothingIsLostAndTheLimitsHold(seed: UInt64) {
        var model = Model(seed: seed)
        for _ in 0..<600 { model.step(arrivals: true) }
        model.stalledUntil = model.now
        for _ in 0..<4000 where !model.store.isEmpty { model.step(arrivals: false) }
        #expect(model.store.isEmpty, "left: \(model.store.keys.sorted().prefix(5))")
        #expect(model.violations.isEmpty, "\(model.violations.prefix(3))")
        #expect(model.quietSends > 20)
    }

    /// The store, the pages under way, and what is expected of the queue.
    private struct Model {
        private static let limits = QueueLimits(
            firstPages: 16, furtherPages: 8, waiting: 40, waitingOfAnyHub: 2, held: 10, heldBytes: 600)
        /// A hub that sends little, and never while something of it is unfinished.
        private static let quiet: Int64 = 9
        private static let stalling: Set<Int64> = [4, 5]
        private static let portion = 7
        private static let otherHubs = 6

        /// What is to be done of a delivery.
        struct Work {
            var lane: LaneID
            var pages: Int
            var progress: DeliveryProgress
        }

        /// A page under way.
        struct Page {
            var id: Int64
            var run: DeliveryRun?
            var until: Timestamp
        }

        var random: Seeded
        var queue = DeliveryQueue(limits: Model.limits, pageSize: 100)
        var now = Timestamp(seconds: 1000)
        /// Until when the lanes of some hubs answer nothing.
        var stalledUntil = Timestamp.distantFuture
        var store: [Int64: Work] = [:]
        var violations: [String] = []
        var quietSends = 0
        private var pages: [Page] = []
        private var lastID: Int64 = 0
        private var pausedUntil: [LaneID: Timestamp] = [:]
        /// First pages of other hubs that were begun since the quiet hub has sent something that has not begun.
        private var waitedOfQuiet: Int?
        /// What is being read from the store.
        private var found: [DeliveryProgress]?

        init(seed: UInt64) {
            random = Seeded(seed)
        }

        mutating func step(arrivals: Bool) {
            now = now + .seconds(1)
            if arrivals { arrive() }
            endPages()
            read()
            advance()
            begin()
            check()
        }

        /// Something that is not over is newer than what has just been looked at.
        private mutating func advance() {
            guard let id = store.keys.sorted().randomElement(using: &random), let work = store[id] else { return }
            if !queue.advance(work.progress.delivery.id) { queue.advance(work.progress) }
        }

        private mutating func arrive() {
            for hub in 1...Int64(Self.otherHubs) where Int.random(in: 0..<3, using: &random) == 0 {
                send(
                    hub, pages: Int.random(in: 0..<4, using: &random) == 0 ? Int.random(in: 2...15, using: &random) : 1)
            }
            guard !store.values.contains(where: { $0.lane.hub.rawValue == Self.quiet }) else { return }
            send(Self.quiet, pages: 1)
            quietSends += 1
            waitedOfQuiet = 0
        }

        private mutating func send(_ hub: Int64, pages: Int) {
            lastID += 1
            let progress = DeliveryQueueTests.progress(
                lastID, hub: hub, body: Array(repeating: 0, count: Int.random(in: 0..<100, using: &random)))
            store[lastID] = Work(lane: progress.delivery.lane, pages: pages, progress: progress)
            queue.add(progress)
        }

        private mutating func read() {
            if let read = found, Bool.random(using: &random) {
                found = nil
                if Int.random(in: 0..<10, using: &random) == 0 {
                    queue.postponeFilling(until: now + .seconds(1))
                } else {
                    queue.fill(read, isAll: read.count < Self.portion)
                }
            }
            guard let after = queue.wantsMore(at: now)?.rawValue else { return }
            found = store.keys.filter { $0 > after }.sorted().prefix(Self.portion).compactMap { store[$0]?.progress }
        }

        private mutating func begin() {
            while true {
                switch queue.next(at: now) {
                case .deliver(let run, let kind): begin(run.delivery.id.rawValue, run, kind)
                case .resume(let id, let kind): begin(id.rawValue, nil, kind)
                case .wait: return
                }
            }
        }

        private mutating func begin(_ id: Int64, _ run: DeliveryRun?, _ kind: DeliveryQueue.Kind) {
            guard let work = store[id] else { return violations.append("\(id) is over and was begun again") }
            if pages.contains(where: { $0.id == id }) { violations.append("\(id) runs twice") }
            let hub = work.lane.hub.rawValue
            if hub == Self.quiet {
                if waitedOfQuiet ?? 0 > 2 * Self.otherHubs {
                    violations.append("the quiet hub waited for \(waitedOfQuiet ?? 0) pages")
                }
                waitedOfQuiet = nil
            } else if kind == .firstPage {
                waitedOfQuiet = waitedOfQuiet.map { $0 + 1 }
            }
            let isStuck = Self.stalling.contains(hub) && now < stalledUntil
            let length = isStuck ? 30 : Int.random(in: 0...4, using: &random)
            pages.append(Page(id: id, run: run, until: now + .seconds(length)))
            let most = kind == .firstPage ? Self.limits.firstPages : Self.limits.furtherPages
            if queue.running(in: work.lane, kind) > (most + 2) / 3 { violations.append("a lane has too many slots") }
        }

        private mutating func endPages() {
            let over = pages.filter { $0.until <= now }
            pages.removeAll { $0.until <= now }
            for page in over { end(page) }
        }

        private mutating func end(_ page: Page) {
            guard var work = store[page.id] else { return }
            let id = DeliveryQueueTests.id(page.id)
            let isStuck = Self.stalling.contains(work.lane.hub.rawValue) && now < stalledUntil
            switch Int.random(in: 0..<20, using: &random) {
            case _ where isStuck, 0: return pause(id, work.lane)
            case 1: return queue.end(id, .failed(StorageError(.full, "no room")), at: now)
            case 2: return queue.end(id, .waiting(until: now + .seconds(9)), at: now)
            default: break
            }
            work.pages -= 1
            guard work.pages > 0 else {
                store[page.id] = nil
                queue.end(id, sent: 100, .finished, at: now)
                return queue.release(work.lane)
            }
            work.progress.cursor = AudienceMember(channel: ChannelID(rawValue: Int64(work.pages)), registration: 1)
            store[page.id] = work
            var run = page.run ?? DeliveryRun(work.progress)
            run.progress = work.progress
            run.sent = 100
            queue.yield(run)
            queue.release(work.lane)
        }

        private mutating func pause(_ id: Delivery.ID, _ lane: LaneID) {
            let until = max(now + .seconds(2), pausedUntil[lane] ?? now)
            pausedUntil[lane] = until
            queue.end(id, sent: 100, .paused(lane, until: until), at: now)
        }

        private mutating func check() {
            if queue.heldCount > Self.limits.held { violations.append("too many are held") }
            let load = queue.load
            if load.running + load.waiting + load.sleeping > store.count { violations.append("what is over is kept") }
            if load.running != pages.count { violations.append("the count of what runs is wrong") }
        }
    }
}
