import MartletModel

/// The deliveries that wait for a turn, have a turn, sleep, or are queued for a paused lane. In a turn, a delivery
/// sends its next pages or a round of its retries. The queue does no I/O; the dispatcher protects it with a lock.
///
/// A delivery is *known* while it is in one of these four states. The turns for first pages have their own slots, so
/// that a single-page delivery never waits for a page of a longer delivery. Further pages and rounds of retries share
/// the remaining slots. A limited number of waiting deliveries is kept in memory with their content. For all others,
/// only the id is kept.
struct DeliveryQueue: Sendable {
    enum Next: Sendable {
        case deliver(DeliveryRun, Kind)
        /// A turn of a delivery for which only the id was kept. The content and the progress of the delivery must be
        /// read from the store first.
        case resume(Delivery.ID, Kind)
        case wait(until: Timestamp?)
    }

    /// What a turn is for: the first page of a delivery, or further pages and retries.
    enum Kind: Hashable, Sendable {
        case firstPage
        case furtherPage
    }

    private struct Item: Sendable {
        enum Content: Sendable {
            /// Indirect, so that an item that has only an id takes little memory. Most items in the queue have only an
            /// id.
            indirect case held(DeliveryRun, weight: Int)
            case stored(Delivery.ID)
        }

        var content: Content
        /// Identifies the item. If it differs from the ticket in `KnownDelivery`, a newer item has replaced this item.
        var ticket: UInt64

        var id: Delivery.ID {
            switch content {
            case .held(let run, _): run.delivery.id
            case .stored(let id): id
            }
        }
    }

    /// The data that is kept for every known delivery.
    private struct KnownDelivery: Sendable {
        var lane: LaneID
        /// The sequence number of the notification.
        var notification: Int64
        /// What the current turn of the delivery is for, or the next turn if the delivery is not running.
        var kind: Kind
        var expiresAt: Timestamp
        /// Whether the delivery waits in the queue of a paused lane, behind the probe of that lane. The delivery then
        /// sleeps until it expires, unless it is woken.
        var isAfter = false
        /// Whether the delivery sleeps until a retry is due or the notification expires.
        var isWaiting = false
        /// The number of consecutive turns that recorded nothing and asked for another turn at once.
        var stalls = 0
        /// The ticket of the valid item of the delivery; an item with another ticket is outdated.
        var ticket: UInt64 = 0
        /// Whether the delivery waits ahead of the other deliveries of its lane.
        var isAhead = false

        init(_ delivery: Delivery, kind: Kind) {
            lane = delivery.lane
            notification = delivery.notification.sequence
            self.kind = kind
            expiresAt = delivery.expiresAt
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
    /// The number of waiting items that are outdated, because a newer item of the same delivery has replaced them.
    private var outdated = 0
    /// The deliveries whose next turn looks whether their devices are gone.
    private var looking: Set<Delivery.ID> = []
    /// The delivery at which the last such look ended.
    private var lastLook = Delivery.ID.none
    private var reading = BacklogRefill()
    /// The number of waits in a row that failures of storage have caused.
    private var failures = 0
    /// The end of the last of these waits; nil if there were none since storage last worked.
    private var failureEnd: Timestamp?

    init(limits: QueueLimits, pageSize: Int) {
        self.limits = limits
        self.pageSize = pageSize
        firstPages = LaneScheduler(slots: limits.firstPages)
        furtherPages = LaneScheduler(slots: limits.furtherPages)
    }

    var waitingCount: Int { firstPages.waiting + furtherPages.waiting - outdated }
    /// The number of deliveries that are kept in memory with their content.
    var heldCount: Int { held }

    var load: DeliveryLoad {
        DeliveryLoad(running: running.count, waiting: waitingCount, sleeping: sleepers.count)
    }

    /// The number of all entries in the queue's tables. It is 0 if no delivery is known.
    var entryCount: Int {
        known.count + running.count + sleepers.count + lines.count + looking.count + firstPages.hubCount
            + furtherPages.hubCount
    }

    /// Returns the sequence number of the notification of a known delivery; nil if the delivery is not known.
    func notification(of delivery: Delivery.ID) -> Int64? { known[delivery]?.notification }

    func running(in lane: LaneID, _ kind: Kind) -> Int {
        kind == .firstPage ? firstPages.running(in: lane) : furtherPages.running(in: lane)
    }

    // MARK: Adding

    /// Adds a new delivery, or leaves it to the store if too many deliveries are waiting. If the hub of the delivery
    /// has few waiting deliveries, the delivery is always added, regardless of the backlog of other hubs.
    mutating func add(_ progress: DeliveryProgress) {
        let hub = progress.delivery.lane.hub
        let ofHub = firstPages.waiting(of: hub) + furtherPages.waiting(of: hub)
        let hasRoom = reading.isComplete && waitingCount < limits.waiting
        guard hasRoom || ofHub < limits.waitingOfAnyHub else {
            return reading.turnAway(progress.delivery.id)
        }
        let isNew = reading.isNew(progress.delivery.id)
        reading.take(progress.delivery.id)
        // A read of the store may have returned this delivery before intake handed it over to the queue, and the
        // delivery may have ended since that read. Therefore only its id is kept, and its progress is read from the
        // store when its turn comes.
        isNew ? enqueue(progress) : enqueueStored(progress.delivery)
    }

    /// Adds a delivery that another process has stored. The delivery may already have been added in another way, and
    /// may have ended since the caller read it. So only its id is kept, and its progress is read again when its turn
    /// comes.
    mutating func addStored(_ delivery: Delivery) {
        let ofHub = firstPages.waiting(of: delivery.lane.hub) + furtherPages.waiting(of: delivery.lane.hub)
        guard reading.isComplete && waitingCount < limits.waiting || ofHub < limits.waitingOfAnyHub else {
            return reading.turnAway(delivery.id)
        }
        reading.take(delivery.id)
        enqueueStored(delivery)
    }

    /// Makes the queue read the store again, starting with the given delivery.
    mutating func look(from id: Delivery.ID) {
        reading.turnAway(id)
    }

    /// Adds a delivery, and keeps only its id until its turn.
    private mutating func enqueueStored(_ delivery: Delivery) {
        guard known[delivery.id] == nil else { return }
        wait(.stored(delivery.id), KnownDelivery(delivery, kind: .firstPage))
    }

    /// Returns the delivery after which the store is to be read; nil if nothing is to be read now.
    mutating func wantsMore(at now: Timestamp) -> Delivery.ID? {
        waitingCount <= limits.waiting / 2 ? reading.begin(at: now) : nil
    }

    /// Adds the deliveries that were read from the store.
    /// - Parameters:
    ///   - isAll: Whether the store had no deliveries after those in `found`.
    ///   - last: The last delivery that was read, even if `found` does not contain it; nil if it is the last one in
    ///     `found`.
    mutating func fill(_ found: [DeliveryProgress], isAll: Bool, through last: Delivery.ID? = nil) {
        for progress in reading.finish(found, isAll: isAll, through: last) { enqueue(progress) }
    }

    /// Records that the store could not be read.
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

    /// Moves a delivery ahead of the other deliveries of its lane, because it replaces older deliveries. Only a
    /// delivery that waits for a turn or for a paused lane is moved; a delivery that is running, or is sleeping until a
    /// given time, is not.
    /// - Returns: Whether the delivery is known.
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

    /// Returns whether a delivery that the queue does not know may still wait in the store, so that it must be looked
    /// up in the store. If false, an unknown delivery has ended, or intake is about to add it to the queue.
    func isLeftToStore(_ id: Delivery.ID) -> Bool { reading.isLeftToStore(id) }

    /// Adds a delivery that was left to the store, ahead of the other deliveries of its lane.
    mutating func advance(_ progress: DeliveryProgress) {
        enqueueStored(progress.delivery)
        _ = advance(progress.delivery.id)
    }

    // MARK: Turns

    /// Starts the next turn that may start now. If no turn may start, returns the time until which the caller must
    /// wait.
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

    /// Starts the turn of an item that the lane scheduler has chosen.
    /// - Returns: nil if the item is outdated, because a newer item of the same delivery has replaced it.
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

    /// Ends the turn of a delivery that has sent a page and has more to send, and lets it wait for its next turn.
    mutating func yield(_ run: DeliveryRun) {
        guard stop(run.delivery.id, sent: run.sent) else { return }
        forgetFailures()
        wait(run)
    }

    /// Ends the turn of a delivery, and puts the delivery into the state that follows from the ending.
    /// - Parameter sent: The number of pushes that the turn sent.
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
        case .waiting(let until), .probing(let until), .held(let until), .deleting(let until):
            known[id]?.kind = .furtherPage
            if case .waiting = ending { known[id]?.isWaiting = true }
            sleepers.set(id, until)
        case .paused(let lane, let until):
            guard !lines.stand(id, before: lane), let entry = known[id] else { return sleepers.set(id, until) }
            known[id]?.isAfter = true
            return sleepers.set(id, entry.expiresAt)
        case .failed: sleepers.set(id, waitAfterFailure(at: now))
        }
        if ending == .finished || ending == .gone { forgetFailures() }
        // If the delivery was the probe of a paused lane, the next delivery in the queue of the lane becomes the probe
        // and starts at once.
        if let next = lines.end(id) { wake(next) }
    }

    /// Ends the turn of a delivery in its scheduler.
    /// - Returns: Whether the delivery was running.
    private mutating func stop(_ id: Delivery.ID, sent: Int) -> Bool {
        guard running.remove(id) != nil, let entry = known[id] else { return false }
        switch entry.kind {
        case .firstPage: firstPages.end(in: entry.lane, cost: cost(of: entry.kind), sent: sent)
        case .furtherPage: furtherPages.end(in: entry.lane, cost: cost(of: entry.kind), sent: sent)
        }
        return true
    }

    /// The wait after the first of several consecutive stalled turns of a delivery. The wait doubles with each further
    /// stalled turn.
    private static let stallWait = Duration.milliseconds(100)
    /// The number of consecutive stalled turns after which the wait is no longer doubled and stays at 12.8 seconds.
    private static let stallLimit = 7

    /// Returns until when a delivery waits whose turn ended because storage failed. Each wait is twice as long as the
    /// one before. A turn that ends during a wait has met the same failure as the turn that began the wait, and only
    /// joins that wait. If it lengthened the wait, then seven turns that end in one short failure would wait for a
    /// minute.
    private mutating func waitAfterFailure(at now: Timestamp) -> Timestamp {
        if let end = failureEnd, now < end { return end }
        failures = min(failures + 1, Self.failureLimit)
        let end = now + .seconds(1 << (failures - 1))
        failureEnd = end
        return end
    }

    private mutating func forgetFailures() {
        failures = 0
        failureEnd = nil
    }

    /// The number of consecutive waits after which the wait is no longer doubled and stays at 64 seconds.
    private static let failureLimit = 7

    /// Wakes all sleeping deliveries of a hub.
    mutating func hurry(_ hub: Hub.ID) {
        for lane in lines.lanes(of: hub) { release(lane) }
        wake(sleepers: sleepers.keys.filter { known[$0]?.lane.hub == hub }.sorted())
    }

    /// Wakes the given deliveries if they sleep or are queued for a paused lane.
    mutating func wake(_ ids: Set<Delivery.ID>) {
        wake(sleepers: ids.sorted().filter { sleepers[$0] != nil })
    }

    /// Wakes deliveries that sleep until a retry is due after the given time, so that they look whether their devices
    /// are gone. Each call wakes the next ones in the order of their ids; after the last one, it begins again.
    /// - Parameter limit: The maximum number of deliveries to wake.
    mutating func look(beyond timestamp: Timestamp, limit: Int) {
        let found = sleepers.keys.filter { id in
            id > lastLook && known[id]?.isWaiting == true && sleepers[id].map { $0 > timestamp } == true
        }.sorted().prefix(limit)
        lastLook = found.count < limit ? .none : found.last ?? .none
        looking.formUnion(found)
        wake(sleepers: Array(found))
    }

    /// Returns whether a turn that begins now is to look whether the devices of the delivery are gone.
    mutating func takeLook(_ id: Delivery.ID) -> Bool { looking.remove(id) != nil }

    /// Wakes all sleeping deliveries. Called when the clock was set back, because the ends of their waits may now be
    /// too far in the future; and when the lease was renewed, because storage works again.
    mutating func wakeAll() {
        reading.hurry()
        forgetFailures()
        wake(sleepers: sleepers.keys.sorted())
    }

    /// Wakes the deliveries that are queued for a paused lane, because the lane is open again.
    mutating func release(_ lane: LaneID) {
        guard let (probe, others) = lines.release(lane) else { return }
        // A probe that does not sleep is running or waits for its turn already, so it need not be woken.
        if sleepers.remove(probe) { wake(probe) }
        for id in others { wake(id) }
    }

    /// Wakes sleeping deliveries, and removes them from the queues of paused lanes.
    private mutating func wake(sleepers ids: [Delivery.ID]) {
        let after = ids.filter { known[$0]?.isAfter ?? false }
        for lane in Set(after.compactMap { known[$0]?.lane }) { lines.take(Set(after), before: lane) }
        for id in ids { wake(id) }
    }

    private mutating func wake(_ id: Delivery.ID) {
        sleepers.remove(id)
        known[id]?.isAfter = false
        known[id]?.isWaiting = false
        if let entry = known[id] { wait(.stored(id), entry) }
    }
}
