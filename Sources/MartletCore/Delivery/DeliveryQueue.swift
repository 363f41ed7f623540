import MartletModel

/// Which deliveries wait, run, sleep and stand in line before a paused lane: pure bookkeeping under the dispatcher's
/// lock.
///
/// A delivery is *known* while it is in one of the four. Up to `readThrough` every unfinished delivery of the store is
/// known; the queue is *complete* when none lies behind it, and stops being so when one is turned away because
/// the queue is full.
struct DeliveryQueue: Sendable {
    enum Next: Sendable {
        case deliver(DeliveryProgress)
        /// One that slept: where it stands is read from the store.
        case resume(Delivery.ID, hub: Hub.ID)
        case wait(until: Timestamp?)
    }

    private struct Sleeper {
        var id: Delivery.ID
        var hub: Hub.ID
        var until: Timestamp
    }

    /// The deliveries that a paused lane holds up. One of them, the scout, sleeps until the pause may be over; the others
    /// follow when the lane is open, or one by one where the scout has ended without opening it.
    private struct Line {
        var scout: Delivery.ID
        var others: [Delivery.ID] = []
    }

    private let limit: Int
    private var waiting: [DeliveryProgress] = []
    private var firstWaiting = 0
    private var running = 0
    /// The soonest is the last.
    private var sleepers: [Sleeper] = []
    private var lines: [LaneID: Line] = [:]
    private var scouts: [Delivery.ID: LaneID] = [:]
    private var known: Set<Delivery.ID> = []
    /// Whether it is the turn of what waits, where something that slept is due as well.
    private var isTurnOfWaiting = false
    /// Deliveries in a row that storage has failed.
    private var failures = 0

    private var readThrough = Delivery.ID.none
    private var isComplete = false
    private var fillsAgainAt: Timestamp?
    /// While the store is being read: what ended, and whether something was turned away, in the meantime.
    private var isFilling = false
    private var endedMeanwhile: Set<Delivery.ID> = []
    private var turnedAwayMeanwhile = false

    init(limit: Int) {
        self.limit = limit
    }

    var waitingCount: Int { waiting.count - firstWaiting }

    var load: DeliveryLoad {
        let inLines = lines.values.reduce(0) { $0 + $1.others.count }
        return DeliveryLoad(running: running, waiting: waitingCount, sleeping: sleepers.count + inLines)
    }

    // MARK: In

    /// Takes a new delivery, or leaves it to the store where there is no room.
    mutating func add(_ progress: DeliveryProgress) {
        let id = progress.delivery.id
        guard isComplete, waitingCount < limit else {
            isComplete = false
            turnedAwayMeanwhile = true
            readThrough = min(readThrough, Delivery.ID(rawValue: id.rawValue - 1))
            return
        }
        readThrough = max(readThrough, id)
        enqueue(progress)
    }

    /// Behind which delivery the store is to be read, where it is to be read now.
    mutating func wantsMore(at now: Timestamp) -> Delivery.ID? {
        guard !isComplete, !isFilling, waitingCount <= limit / 2, fillsAgainAt.map({ $0 <= now }) ?? true
        else { return nil }
        isFilling = true
        turnedAwayMeanwhile = false
        endedMeanwhile = []
        return readThrough
    }

    /// Takes what the store had.
    /// - Parameter isAll: Whether nothing lay behind it.
    mutating func fill(_ found: [DeliveryProgress], isAll: Bool) {
        isFilling = false
        fillsAgainAt = nil
        for progress in found where !endedMeanwhile.contains(progress.delivery.id) { enqueue(progress) }
        // What was turned away meanwhile is among the found, or lies behind them: the store numbers in the order in which
        // deliveries become visible.
        readThrough = found.last?.delivery.id ?? readThrough
        isComplete = isAll && !turnedAwayMeanwhile
    }

    /// The store could not be read.
    mutating func postponeFilling(until moment: Timestamp) {
        isFilling = false
        fillsAgainAt = moment
    }

    private mutating func enqueue(_ progress: DeliveryProgress) {
        guard known.insert(progress.delivery.id).inserted else { return }
        waiting.append(progress)
    }

    // MARK: Out

    /// What to do next.
    /// - Parameter limit: How many may run.
    mutating func next(limit: Int, at now: Timestamp) -> Next {
        guard running < limit else { return .wait(until: nil) }
        let isWaiting = firstWaiting < waiting.count
        if let sleeper = sleepers.last, sleeper.until <= now, !(isWaiting && isTurnOfWaiting) {
            sleepers.removeLast()
            running += 1
            isTurnOfWaiting = true
            return .resume(sleeper.id, hub: sleeper.hub)
        }
        guard isWaiting else {
            return .wait(until: [sleepers.last?.until, fillsAgainAt].compactMap(\.self).min())
        }
        let progress = waiting[firstWaiting]
        firstWaiting += 1
        if firstWaiting > 1024, firstWaiting * 2 > waiting.count {
            waiting.removeFirst(firstWaiting)
            firstWaiting = 0
        }
        running += 1
        isTurnOfWaiting = false
        return .deliver(progress)
    }

    /// A delivery has stopped.
    mutating func end(_ id: Delivery.ID, in hub: Hub.ID, _ ending: Deliverer.Ending, at now: Timestamp) {
        running -= 1
        switch ending {
        case .finished, .interrupted, .yielded:
            known.remove(id)
            if isFilling { endedMeanwhile.insert(id) }
        case .waiting(let until):
            sleep(Sleeper(id: id, hub: hub, until: until))
        case .paused(let lane, let until):
            return stand(in: lane, id, until: until)
        case .failed:
            failures = min(failures + 1, Self.failureLimit)
            sleep(Sleeper(id: id, hub: hub, until: now + .seconds(1 << (failures - 1))))
        }
        if ending == .finished { failures = 0 }
        if let lane = scouts.removeValue(forKey: id) { sendScout(of: lane, at: now) }
    }

    /// After so many failures in a row the wait does not double any more.
    private static let failureLimit = 7

    /// Wakes what sleeps in a hub.
    mutating func hurry(_ hub: Hub.ID, at now: Timestamp) {
        for lane in lines.keys where lane.hub == hub { release(lane, at: now) }
        wake(at: now) { $0.hub == hub }
    }

    /// Wakes what stands before a lane: it is open.
    mutating func release(_ lane: LaneID, at now: Timestamp) {
        guard let line = lines.removeValue(forKey: lane) else { return }
        scouts[line.scout] = nil
        wake(at: now, with: line.others.map { Sleeper(id: $0, hub: lane.hub, until: now) }) {
            $0.id == line.scout
        }
    }

    private mutating func stand(in lane: LaneID, _ id: Delivery.ID, until: Timestamp) {
        let scout = lines[lane]?.scout ?? id
        guard scout == id else {
            lines[lane]?.others.append(id)
            return
        }
        if lines[lane] == nil { lines[lane] = Line(scout: id) }
        scouts[id] = lane
        sleep(Sleeper(id: id, hub: lane.hub, until: until))
    }

    /// The scout has ended: the next of the line goes at once.
    private mutating func sendScout(of lane: LaneID, at now: Timestamp) {
        guard var line = lines.removeValue(forKey: lane), !line.others.isEmpty else { return }
        line.scout = line.others.removeFirst()
        scouts[line.scout] = lane
        lines[lane] = line
        sleep(Sleeper(id: line.scout, hub: lane.hub, until: now))
    }

    /// Lets the chosen sleepers, and others that were none, be the next that are due.
    private mutating func wake(at now: Timestamp, with others: [Sleeper] = [], _ isChosen: (Sleeper) -> Bool) {
        let chosen = sleepers.filter(isChosen)
        sleepers.removeAll(where: isChosen)
        let soonest = min(now, sleepers.last?.until ?? now)
        sleepers += (chosen.reversed() + others).reversed().map {
            Sleeper(id: $0.id, hub: $0.hub, until: soonest)
        }
    }

    private mutating func sleep(_ sleeper: Sleeper) {
        var low = 0
        var high = sleepers.count
        while low < high {
            let middle = (low + high) / 2
            if sleepers[middle].until > sleeper.until { low = middle + 1 } else { high = middle }
        }
        sleepers.insert(sleeper, at: low)
    }
}
