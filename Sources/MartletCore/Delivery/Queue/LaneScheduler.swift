import MartletModel

/// Slots of one kind and what waits for them: pure bookkeeping.
///
/// Between hubs it is the turn of the one that has sent least since it had something to send, counted in pushes; between
/// the platforms of a hub they take turns; within a lane what came first goes first.
///
/// No lane holds more than half as many slots as are free, and no hub more than are free: one lane alone gets a third of
/// all, ten that are stuck leave a sixth free, and a hub that has no slot at all gets one as long as there is one.
struct LaneScheduler<Item: Sendable>: Sendable {
    /// What a turn costs beside its pushes, in pushes: a page is read and recorded.
    static var turnCost: Int { 100 }

    private struct LaneTurns {
        /// Go before what waits.
        var ahead = FIFO<Item>()
        var waiting = FIFO<Item>()
        var running = 0

        var isEmpty: Bool { ahead.isEmpty && waiting.isEmpty }

        mutating func popFirst() -> Item? { ahead.popFirst() ?? waiting.popFirst() }
    }

    private struct HubTurns {
        /// The pushes that it was given, on the clock that all hubs share.
        var served: Int
        var waiting = 0
        var running = 0
        var lanes: [PlatformID: LaneTurns] = [:]
        /// Whose turn it is comes first.
        var order: [PlatformID] = []
    }

    let slots: Int
    private(set) var running = 0
    private(set) var waiting = 0
    private var hubs: [Hub.ID: HubTurns] = [:]
    /// Hubs with something that waits, by what they were given.
    private var line = PriorityHeap<Hub.ID, Int>()
    /// Hubs with nothing, by what they were given: once others were given as much they need not be remembered.
    private var absent = PriorityHeap<Hub.ID, Int>()
    /// What the hub had been given whose turn came last: a hub that returns begins here, and does not make up for its absence.
    private var clock = 0

    init(slots: Int) {
        self.slots = slots
    }

    /// How many of a hub wait.
    func waiting(of hub: Hub.ID) -> Int { hubs[hub]?.waiting ?? 0 }

    /// How many of a lane run.
    func running(in lane: LaneID) -> Int { hubs[lane.hub]?.lanes[lane.platform]?.running ?? 0 }

    /// How many hubs are remembered.
    var hubCount: Int { hubs.count }

    /// - Parameter isAhead: Whether it goes before the others of its lane.
    mutating func add(_ item: Item, in lane: LaneID, isAhead: Bool = false) {
        absent.remove(lane.hub)
        var hub = hubs.removeValue(forKey: lane.hub) ?? HubTurns(served: clock)
        if hub.waiting == 0 {
            hub.served = max(hub.served, clock)
            line.set(lane.hub, hub.served)
        }
        if hub.lanes[lane.platform] == nil { hub.order.append(lane.platform) }
        if isAhead {
            hub.lanes[lane.platform, default: LaneTurns()].ahead.append(item)
        } else {
            hub.lanes[lane.platform, default: LaneTurns()].waiting.append(item)
        }
        hub.waiting += 1
        waiting += 1
        hubs[lane.hub] = hub
    }

    /// Whose turn it is; nil where nothing waits, or nothing that may run now.
    /// - Parameter cost: The pushes that it is expected to make.
    mutating func next(cost: Int) -> (item: Item, lane: LaneID)? {
        // Who is passed over holds slots, so there are never more of them than slots.
        var passed: [PriorityHeap<Hub.ID, Int>.Entry] = []
        defer { for entry in passed { line.putBack(entry) } }
        while slots > running, let entry = line.popFirst() {
            if let taken = take(from: entry.key, cost: cost) { return taken }
            passed.append(entry)
        }
        return nil
    }

    private mutating func take(from id: Hub.ID, cost: Int) -> (item: Item, lane: LaneID)? {
        let free = slots - running
        guard let running = hubs[id]?.running, running < free else { return nil }
        guard var hub = hubs.removeValue(forKey: id) else { return nil }
        defer { hubs[id] = hub }
        let turn = hub.order.firstIndex { platform in
            hub.lanes[platform].map { !$0.isEmpty && 2 * $0.running < free } ?? false
        }
        guard let turn, let item = hub.lanes[hub.order[turn]]?.popFirst() else { return nil }
        let platform = hub.order.remove(at: turn)
        hub.order.append(platform)
        hub.lanes[platform]?.running += 1
        hub.waiting -= 1
        hub.running += 1
        waiting -= 1
        self.running += 1
        clock = max(clock, hub.served)
        hub.served += cost + Self.turnCost
        if hub.waiting > 0 { line.set(id, hub.served) }
        return (item, LaneID(hub: id, platform: platform))
    }

    /// A turn that was given has nothing to do.
    mutating func cancel(in lane: LaneID, cost: Int) {
        end(in: lane, cost: cost, sent: -Self.turnCost)
    }

    /// A turn is over.
    /// - Parameters:
    ///   - cost: The pushes that it was expected to make.
    ///   - sent: Those that it made.
    mutating func end(in lane: LaneID, cost: Int, sent: Int) {
        guard var hub = hubs.removeValue(forKey: lane.hub) else { return }
        running -= 1
        hub.running -= 1
        hub.lanes[lane.platform]?.running -= 1
        hub.served += sent - cost
        if hub.waiting > 0 { line.set(lane.hub, hub.served) }
        hubs[lane.hub] = hub
        if hub.waiting == 0, hub.running == 0 { absent.set(lane.hub, hub.served) }
        forgetAbsent()
    }

    private mutating func forgetAbsent() {
        let isQuiet = waiting == 0 && running == 0
        while let entry = absent.first, isQuiet || entry.priority <= clock {
            absent.remove(entry.key)
            hubs[entry.key] = nil
        }
        if isQuiet { clock = 0 }
    }
}
