import MartletModel

/// Gives a limited number of slots to items that wait for a turn: deliveries that have pages or retries to send
/// (`DeliveryQueue`). An item occupies a slot for one turn. Does no I/O.
///
/// The next turn goes to the hub that has sent the fewest pushes. A hub that had nothing to send for a while gets no
/// extra turns for that time. The platforms of a hub take turns. Within a lane, items are first-in, first-out.
///
/// A lane gets another slot only while it has fewer than half as many slots as are free, and a hub only while it has
/// fewer than are free. Therefore a single lane gets a third of all slots, ten lanes that become stuck at the same time
/// leave a sixth of the slots free, and a hub without a slot gets one as long as any slot is free.
struct LaneScheduler<Item: Sendable>: Sendable {
    /// The cost of reading and recording a page, expressed as a number of pushes. It is charged for each turn, in
    /// addition to the pushes of the turn.
    static var turnCost: Int { 100 }

    private struct LaneTurns {
        /// Items of the lane that run before those in `waiting`.
        var ahead = FIFO<Item>()
        var waiting = FIFO<Item>()
        var running = 0

        var isEmpty: Bool { ahead.isEmpty && waiting.isEmpty }

        mutating func popFirst() -> Item? { ahead.popFirst() ?? waiting.popFirst() }
    }

    private struct HubTurns {
        /// The number of pushes charged to the hub. After an absence, a hub starts at `clock` instead of 0, so that the
        /// numbers of all hubs can be compared.
        var served: Int
        var waiting = 0
        var running = 0
        var lanes: [PlatformID: LaneTurns] = [:]
        /// The platforms of the hub. The platform with the next turn is first.
        var order: [PlatformID] = []
    }

    let slots: Int
    private(set) var running = 0
    private(set) var waiting = 0
    private var hubs: [Hub.ID: HubTurns] = [:]
    /// Hubs with waiting items, ordered by `served`.
    private var line = PriorityHeap<Hub.ID, Int>()
    /// Hubs without waiting or running items, ordered by `served`. Such a hub is forgotten once `clock` has reached its
    /// `served`.
    private var absent = PriorityHeap<Hub.ID, Int>()
    /// The `served` value of the hub that had the last turn. A hub that returns after an absence starts at this value,
    /// so that it gets no extra turns for the time it was absent.
    private var clock = 0

    init(slots: Int) {
        self.slots = slots
    }

    func waiting(of hub: Hub.ID) -> Int { hubs[hub]?.waiting ?? 0 }

    func running(in lane: LaneID) -> Int { hubs[lane.hub]?.lanes[lane.platform]?.running ?? 0 }

    var hubCount: Int { hubs.count }

    /// Adds an item that waits for a slot.
    /// - Parameter isAhead: Whether the item goes before the other items of its lane.
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

    /// Starts the next item. Returns nil if no item waits, or if no waiting item may run now.
    /// - Parameter cost: The number of pushes that the turn is expected to send.
    mutating func next(cost: Int) -> (item: Item, lane: LaneID)? {
        // Hubs that may not have another slot now are passed over. Each such hub occupies slots, so there are never
        // more such hubs than slots.
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

    /// Ends a turn whose item turned out to be outdated. The hub is not charged for the turn.
    mutating func cancel(in lane: LaneID, cost: Int) {
        end(in: lane, cost: cost, sent: -Self.turnCost)
    }

    /// Ends a turn, frees its slot, and corrects the charge of the hub to the number of pushes that were sent.
    /// - Parameters:
    ///   - cost: The number of pushes that the turn was expected to send.
    ///   - sent: The number of pushes that the turn sent.
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
