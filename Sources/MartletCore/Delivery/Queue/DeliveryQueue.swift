import MartletModel

/// Which deliveries wait, run, sleep and are in line before a paused lane: pure bookkeeping under the dispatcher's
/// lock.
///
/// A delivery is *known* while it is in one of the four. First pages have slots of their own, so that a send that is no
/// longer than one waits for no page of a longer one; all other pages and rounds of retries share the others. Of what
/// waits so much is held with what it brings; of the rest only the number is kept.
struct DeliveryQueue: Sendable {
    enum Next: Sendable {
        case deliver(DeliveryRun, Kind)
        /// One of which only the number is kept: the rest is read from the store.
        case resume(Delivery.ID, Kind)
        case wait(until: Timestamp?)
    }

    /// What a turn is for.
    enum Kind: Hashable, Sendable {
        case firstPage
        case furtherPage
    }

    private struct Item: Sendable {
        enum Content: Sendable {
            /// Apart from the queue, in which most have only a number.
            indirect case held(DeliveryRun, weight: Int)
            case stored(Delivery.ID)
        }

        var content: Content
        /// Where it is not that of the delivery's note, another item stands for the delivery by now.
        var ticket: UInt64

        var id: Delivery.ID {
            switch content {
            case .held(let run, _): run.delivery.id
            case .stored(let id): id
            }
        }
    }

    /// What is always kept of a delivery.
    private struct KnownDelivery: Sendable {
        var lane: LaneID
        /// Its sequence number.
        var notification: Int64
        /// What its next turn is for, or the one that it has.
        var kind: Kind
        var expiresAt: Timestamp
        /// It follows a scout, and sleeps until it expires.
        var isAfter = false
        /// Turns in a row that have recorded nothing and wanted another one at once.
        var stalls = 0
        /// The item that waits for its turn.
        var ticket: UInt64 = 0
        /// It waits before the others of its lane.
        var isAhead = false

        init(_ delivery: Delivery, kind: Kind) {
            lane = delivery.lane
            notification = delivery.notification.sequence
            self.kind = kind
            expiresAt = delivery.notification.expiresAt
        }
    }

    private let limits: QueueLimits
    private let pageSize: Int
    private var firstPages: LaneScheduler<Item>
    private var furtherPages: LaneScheduler<Item>
    private var sleepers = PriorityHeap<Delivery.ID, Timestamp>()
    private var lines = PausedLaneQueues()
    private var known: [Delivery.ID: KnownDelivery] = [:]
    private var running: Set<Delivery.ID> = []
    private var held = 0
    private var heldBytes = 0
    private var lastTicket: UInt64 = 0
    /// Items that another one has been added for.
    private var outdated = 0
    private var reading = BacklogRefill()
    /// Deliveries in a row that storage has failed.
    private var failures = 0

    init(limits: QueueLimits, pageSize: Int) {
        self.limits = limits
        self.pageSize = pageSize
        firstPages = LaneScheduler(slots: limits.firstPages)
        furtherPages = LaneScheduler(slots: limits.furtherPages)
    }

    var waitingCount: Int { firstPages.waiting + furtherPages.waiting - outdated }
    /// How many are held with what they bring.
    var heldCount: Int { held }

    var load: DeliveryLoad {
        DeliveryLoad(running: running.count, waiting: waitingCount, sleeping: sleepers.count)
    }

    /// How many entries there are of deliveries and hubs.
    var entryCount: Int {
        known.count + running.count + sleepers.count + lines.count + firstPages.hubCount + furtherPages.hubCount
    }

    /// The sequence number of the notification of a delivery that is known.
    func notification(of delivery: Delivery.ID) -> Int64? { known[delivery]?.notification }

    func running(in lane: LaneID, _ kind: Kind) -> Int {
        kind == .firstPage ? firstPages.running(in: lane) : furtherPages.running(in: lane)
    }

    // MARK: In

    /// Takes a new delivery, or leaves it to the store where there is no room. A hub of which little waits finds room
    /// after any backlog of others.
    mutating func add(_ progress: DeliveryProgress) {
        let hub = progress.delivery.lane.hub
        let ofHub = firstPages.waiting(of: hub) + furtherPages.waiting(of: hub)
        let hasRoom = reading.isComplete && waitingCount < limits.waiting
        guard hasRoom || ofHub < limits.waitingOfAnyHub else {
            return reading.turnAway(progress.delivery.id)
        }
        let isNew = reading.isNew(progress.delivery.id)
        reading.take(progress.delivery.id)
        // The store may have told of it before its intake did, and it may be over by now: it is read again in its turn.
        isNew ? enqueue(progress) : enqueueStored(progress.delivery)
    }

    /// Takes a delivery of which only the number is kept until its turn.
    private mutating func enqueueStored(_ delivery: Delivery) {
        guard known[delivery.id] == nil else { return }
        wait(.stored(delivery.id), KnownDelivery(delivery, kind: .firstPage))
    }

    /// Behind which delivery the store is to be read, where it is to be read now.
    mutating func wantsMore(at now: Timestamp) -> Delivery.ID? {
        waitingCount <= limits.waiting / 2 ? reading.begin(at: now) : nil
    }

    /// Takes what the store had.
    /// - Parameter isAll: Whether nothing came after it.
    mutating func fill(_ found: [DeliveryProgress], isAll: Bool) {
        for progress in reading.finish(found, isAll: isAll) { enqueue(progress) }
    }

    /// The store could not be read.
    mutating func postponeFilling(until timestamp: Timestamp) {
        reading.fail(until: timestamp)
    }

    private mutating func enqueue(_ progress: DeliveryProgress) {
        guard known[progress.delivery.id] == nil else { return }
        wait(DeliveryRun(progress))
    }

    private mutating func wait(_ run: DeliveryRun) {
        let weight = run.weight
        let entry = KnownDelivery(run.delivery, kind: run.hasBegun ? .furtherPage : .firstPage)
        guard held < limits.held, heldBytes + weight <= limits.heldBytes else {
            return wait(.stored(run.delivery.id), entry)
        }
        held += 1
        heldBytes += weight
        wait(.held(run, weight: weight), entry)
    }

    private mutating func wait(_ content: Item.Content, _ entry: KnownDelivery) {
        lastTicket += 1
        let item = Item(content: content, ticket: lastTicket)
        var entry = entry
        entry.ticket = lastTicket
        known[item.id] = entry
        switch entry.kind {
        case .firstPage: firstPages.add(item, in: entry.lane, isAhead: entry.isAhead)
        case .furtherPage: furtherPages.add(item, in: entry.lane, isAhead: entry.isAhead)
        }
    }

    // MARK: Ahead of others

    /// Has a delivery that waits, or comes before a paused lane, go before the others of its lane: it takes the place of
    /// older ones. One that sleeps until a given time, or runs, stays as it is.
    /// - Returns: Whether it is known.
    mutating func advance(_ id: Delivery.ID) -> Bool {
        guard var entry = known[id] else { return false }
        guard !running.contains(id), !entry.isAhead else { return true }
        if sleepers[id] == nil {
            outdated += 1
        } else {
            guard entry.isAfter else { return true }
            lines.take([id], before: entry.lane)
            sleepers.remove(id)
            entry.isAfter = false
        }
        entry.isAhead = true
        wait(.stored(id), entry)
        return true
    }

    /// Whether the store is to be asked for a delivery that is not known here: all others are over, or will be handed over
    /// by their intake.
    func isLeftToStore(_ id: Delivery.ID) -> Bool { reading.isLeftToStore(id) }

    /// Takes a delivery that was left to the store, to go before the others of its lane.
    mutating func advance(_ progress: DeliveryProgress) {
        enqueueStored(progress.delivery)
        _ = advance(progress.delivery.id)
    }

    // MARK: Out

    /// What to do next.
    mutating func next(at now: Timestamp) -> Next {
        var due: [Delivery.ID] = []
        while let sleeper = sleepers.first, sleeper.priority <= now {
            _ = sleepers.popFirst()
            due.append(sleeper.key)
        }
        wake(sleepers: due)
        while let (item, lane) = firstPages.next(cost: cost(of: .firstPage)) {
            if let next = start(item, .firstPage) { return next }
            firstPages.cancel(in: lane, cost: cost(of: .firstPage))
        }
        while let (item, lane) = furtherPages.next(cost: cost(of: .furtherPage)) {
            if let next = start(item, .furtherPage) { return next }
            furtherPages.cancel(in: lane, cost: cost(of: .furtherPage))
        }
        return .wait(until: [sleepers.first?.priority, reading.nextTry].compactMap(\.self).min())
    }

    private func cost(of kind: Kind) -> Int {
        kind == .firstPage ? 0 : pageSize
    }

    /// - Returns: nil where another item stands for the delivery.
    private mutating func start(_ item: Item, _ kind: Kind) -> Next? {
        if case .held(_, let weight) = item.content {
            held -= 1
            heldBytes -= weight
        }
        guard known[item.id]?.ticket == item.ticket else {
            outdated -= 1
            return nil
        }
        known[item.id]?.isAhead = false
        running.insert(item.id)
        return switch item.content {
        case .held(let run, _): .deliver(run, kind)
        case .stored(let id): .resume(id, kind)
        }
    }

    /// A delivery has sent a page and has more to send.
    mutating func yield(_ run: DeliveryRun) {
        guard stop(run.delivery.id, sent: run.sent) else { return }
        failures = 0
        wait(run)
    }

    /// A delivery has stopped.
    /// - Parameter sent: The pushes that it made.
    mutating func end(_ id: Delivery.ID, sent: Int = 0, _ ending: DeliveryRun.Ending, at now: Timestamp) {
        guard stop(id, sent: sent) else { return }
        if ending != .stalled { known[id]?.stalls = 0 }
        switch ending {
        case .finished, .gone, .interrupted:
            known[id] = nil
            reading.end(id)
        case .yielded: wake(id)
        case .stalled:
            let stalls = known[id]?.stalls ?? 0
            known[id]?.stalls = min(stalls + 1, Self.stallLimit)
            sleepers.set(id, now + Self.stallWait * (1 << stalls))
        case .waiting(let until), .held(let until), .deleting(let until):
            known[id]?.kind = .furtherPage
            sleepers.set(id, until)
        case .paused(let lane, let until):
            guard !lines.stand(id, before: lane), let entry = known[id] else { return sleepers.set(id, until) }
            known[id]?.isAfter = true
            return sleepers.set(id, entry.expiresAt)
        case .failed:
            failures = min(failures + 1, Self.failureLimit)
            sleepers.set(id, now + .seconds(1 << (failures - 1)))
        }
        if ending == .finished || ending == .gone { failures = 0 }
        // The next of a line goes at once.
        if let next = lines.end(id) { wake(next) }
    }

    /// - Returns: Whether it was running.
    private mutating func stop(_ id: Delivery.ID, sent: Int) -> Bool {
        guard running.remove(id) != nil, let entry = known[id] else { return false }
        switch entry.kind {
        case .firstPage: firstPages.end(in: entry.lane, cost: cost(of: entry.kind), sent: sent)
        case .furtherPage: furtherPages.end(in: entry.lane, cost: cost(of: entry.kind), sent: sent)
        }
        return true
    }

    /// How long the first of several turns in a row waits that have come to nothing.
    private static let stallWait = Duration.milliseconds(100)
    /// After so many of them the wait does not double any more: it is 12.8 seconds.
    private static let stallLimit = 7

    /// After so many failures in a row the wait does not double any more.
    private static let failureLimit = 7

    /// Wakes what sleeps in a hub.
    mutating func hurry(_ hub: Hub.ID) {
        for lane in lines.lanes(of: hub) { release(lane) }
        wake(sleepers: sleepers.keys.filter { known[$0]?.lane.hub == hub }.sorted())
    }

    /// Wakes those of the deliveries that sleep, or are before a lane.
    mutating func wake(_ ids: Set<Delivery.ID>) {
        wake(sleepers: ids.sorted().filter { sleepers[$0] != nil })
    }

    /// Wakes everything that sleeps: the clock was set back, and what it waits for may lie too far ahead.
    mutating func wakeAll() {
        reading.hurry()
        wake(sleepers: sleepers.keys.sorted())
    }

    /// Wakes what comes before a lane: it is open.
    mutating func release(_ lane: LaneID) {
        guard let (probe, others) = lines.release(lane) else { return }
        // Otherwise the scout runs, or is about to.
        if sleepers.remove(probe) { wake(probe) }
        for id in others { wake(id) }
    }

    /// Wakes what sleeps, out of a line too.
    private mutating func wake(sleepers ids: [Delivery.ID]) {
        let after = ids.filter { known[$0]?.isAfter ?? false }
        for lane in Set(after.compactMap { known[$0]?.lane }) { lines.take(Set(after), before: lane) }
        for id in ids { wake(id) }
    }

    private mutating func wake(_ id: Delivery.ID) {
        sleepers.remove(id)
        known[id]?.isAfter = false
        if let entry = known[id] { wait(.stored(id), entry) }
    }
}
