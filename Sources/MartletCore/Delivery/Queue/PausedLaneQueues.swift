import MartletModel

/// What comes before paused lanes: pure bookkeeping. One of a line, the scout, sleeps until the pause may be over; the
/// others follow when the lane is open, or one by one where the scout has ended without opening it.
struct PausedLaneQueues: Sendable {
    private struct Line {
        var probe: Delivery.ID
        var others = FIFO<Delivery.ID>()
    }

    private var lines: [LaneID: Line] = [:]
    private var lanes: [Delivery.ID: LaneID] = [:]

    /// Finds a place before a lane.
    /// - Returns: Whether it is that of the scout.
    mutating func stand(_ id: Delivery.ID, before lane: LaneID) -> Bool {
        guard let probe = lines[lane]?.probe else {
            lines[lane] = Line(probe: id)
            lanes[id] = lane
            return true
        }
        guard probe != id else { return true }
        lines[lane]?.others.append(id)
        return false
    }

    /// A delivery has ended. Where it was a scout, somebody else is.
    mutating func end(_ id: Delivery.ID) -> Delivery.ID? {
        guard let lane = lanes.removeValue(forKey: id), var line = lines.removeValue(forKey: lane),
            let next = line.others.popFirst()
        else { return nil }
        line.probe = next
        lines[lane] = line
        lanes[next] = lane
        return next
    }

    /// A lane is open: its line is no more.
    mutating func release(_ lane: LaneID) -> (probe: Delivery.ID, others: [Delivery.ID])? {
        guard let line = lines.removeValue(forKey: lane) else { return nil }
        lanes[line.probe] = nil
        return (line.probe, line.others.all)
    }

    /// Lets those of the deliveries go that are after a lane's scout.
    mutating func take(_ ids: Set<Delivery.ID>, before lane: LaneID) {
        _ = lines[lane]?.others.remove(where: ids.contains)
    }

    /// How many deliveries are in a line.
    var count: Int { lines.values.reduce(lanes.count) { $0 + $1.others.all.count } }

    /// The lanes of a hub that have a line.
    func lanes(of hub: Hub.ID) -> [LaneID] { lines.keys.filter { $0.hub == hub } }
}
