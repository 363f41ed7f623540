import MartletModel

/// Which deliveries wait, run and sleep: pure bookkeeping under the dispatcher's lock.
///
/// A notification is *known* while it is in one of the three. Up to `readThrough` every unfinished notification of the
/// store is known; the queue is *complete* when none lies behind it, and stops being so when one is turned away because
/// the queue is full.
struct DeliveryQueue: Sendable {
    enum Next: Sendable {
        case deliver(DeliveryProgress)
        /// One that slept: where it stands is read from the store.
        case resume(sequence: Int64, hub: Hub.ID)
        case wait(until: Timestamp?)
    }

    private struct Sleeper {
        var sequence: Int64
        var hub: Hub.ID
        var until: Timestamp
    }

    private let limit: Int
    private var waiting: [DeliveryProgress] = []
    private var firstWaiting = 0
    private var running = 0
    /// The soonest is the last.
    private var sleepers: [Sleeper] = []
    private var known: Set<Int64> = []

    private var readThrough: Int64 = 0
    private var isComplete = false
    private var fillsAgainAt: Timestamp?
    /// While the store is being read: what ended, and whether something was turned away, in the meantime.
    private var isFilling = false
    private var endedMeanwhile: Set<Int64> = []
    private var turnedAwayMeanwhile = false

    init(limit: Int) {
        self.limit = limit
    }

    var waitingCount: Int { waiting.count - firstWaiting }

    // MARK: In

    /// Takes a new notification, or leaves it to the store where there is no room.
    mutating func add(_ progress: DeliveryProgress) {
        let sequence = progress.notification.sequence
        guard isComplete, waitingCount < limit else {
            isComplete = false
            turnedAwayMeanwhile = true
            readThrough = min(readThrough, sequence - 1)
            return
        }
        readThrough = max(readThrough, sequence)
        enqueue(progress)
    }

    /// Behind which notification the store is to be read, where it is to be read now.
    mutating func wantsMore(at now: Timestamp) -> Int64? {
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
        for progress in found where !endedMeanwhile.contains(progress.notification.sequence) { enqueue(progress) }
        if !turnedAwayMeanwhile {
            readThrough = found.last?.notification.sequence ?? readThrough
            isComplete = isAll
        }
    }

    /// The store could not be read.
    mutating func postponeFilling(until moment: Timestamp) {
        isFilling = false
        fillsAgainAt = moment
    }

    private mutating func enqueue(_ progress: DeliveryProgress) {
        guard known.insert(progress.notification.sequence).inserted else { return }
        waiting.append(progress)
    }

    // MARK: Out

    /// What to do next.
    /// - Parameter limit: How many may run.
    mutating func next(limit: Int, at now: Timestamp) -> Next {
        guard running < limit else { return .wait(until: nil) }
        if let sleeper = sleepers.last, sleeper.until <= now {
            sleepers.removeLast()
            running += 1
            return .resume(sequence: sleeper.sequence, hub: sleeper.hub)
        }
        guard firstWaiting < waiting.count else {
            return .wait(until: [sleepers.last?.until, fillsAgainAt].compactMap(\.self).min())
        }
        let progress = waiting[firstWaiting]
        firstWaiting += 1
        if firstWaiting > 1024, firstWaiting * 2 > waiting.count {
            waiting.removeFirst(firstWaiting)
            firstWaiting = 0
        }
        running += 1
        return .deliver(progress)
    }

    /// A delivery has stopped.
    mutating func end(_ sequence: Int64, in hub: Hub.ID, _ ending: NotificationDelivery.Ending, at now: Timestamp) {
        running -= 1
        switch ending {
        case .finished, .interrupted:
            known.remove(sequence)
            if isFilling { endedMeanwhile.insert(sequence) }
        case .waiting(let until):
            sleep(Sleeper(sequence: sequence, hub: hub, until: until))
        case .failed:
            sleep(Sleeper(sequence: sequence, hub: hub, until: now + .seconds(1)))
        }
    }

    /// Wakes what sleeps in a hub.
    mutating func hurry(_ hub: Hub.ID, at now: Timestamp) {
        let woken = sleepers.filter { $0.hub == hub }
        sleepers.removeAll { $0.hub == hub }
        for sleeper in woken { sleep(Sleeper(sequence: sleeper.sequence, hub: hub, until: now)) }
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
