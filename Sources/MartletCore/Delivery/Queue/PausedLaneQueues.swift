import MartletModel

/// The queues of deliveries that wait for paused lanes. The first delivery of a queue is the probe of the lane. The
/// probe sleeps until the pause may be over. The deliveries after the probe wake together once the lane is open. If the
/// probe ends without opening the lane, the next delivery becomes the probe. Does no I/O.
struct PausedLaneQueues: Sendable {
    private struct Line {
        var probe: Delivery.ID
        var others = FIFO<Delivery.ID>()
    }

    private var lines: [LaneID: Line] = [:]
    private var lanes: [Delivery.ID: LaneID] = [:]

    /// Adds a delivery to the queue of a paused lane.
    /// - Returns: Whether the delivery is the probe of the lane.
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

    /// Records that a turn of a delivery has ended, but not because its lane is paused. If the delivery was the probe,
    /// the next delivery in the queue becomes the probe.
    /// - Returns: The new probe, if there is one.
    mutating func end(_ id: Delivery.ID) -> Delivery.ID? {
        guard let lane = lanes.removeValue(forKey: id), var line = lines.removeValue(forKey: lane),
            let next = line.others.popFirst()
        else { return nil }
        line.probe = next
        lines[lane] = line
        lanes[next] = lane
        return next
    }

    /// Removes the queue of a lane that is open again, and returns its deliveries; nil if the lane has no queue.
    mutating func release(_ lane: LaneID) -> (probe: Delivery.ID, others: [Delivery.ID])? {
        guard let line = lines.removeValue(forKey: lane) else { return nil }
        lanes[line.probe] = nil
        return (line.probe, line.others.all)
    }

    /// Removes the given deliveries from the queue of a lane. The probe stays, even if `ids` contains it.
    mutating func take(_ ids: Set<Delivery.ID>, before lane: LaneID) {
        _ = lines[lane]?.others.remove(where: ids.contains)
    }

    /// The number of queued deliveries.
    var count: Int { lines.values.reduce(lanes.count) { $0 + $1.others.all.count } }

    /// Returns the lanes of a hub that have a queue.
    func lanes(of hub: Hub.ID) -> [LaneID] { lines.keys.filter { $0.hub == hub } }
}
