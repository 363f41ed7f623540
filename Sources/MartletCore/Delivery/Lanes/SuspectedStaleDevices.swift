import MartletModel
import Synchronization

/// The suspected stale devices of each lane. The push service refused the last push to each of these devices. The
/// devices were not removed for one of two reasons: the service only throttled them, or the service reported their
/// tokens as dead and this report was not believed.
///
/// Some services slow down a whole connection after such a refusal. So these devices have their own connection, and are
/// sent to after all other devices. The store keeps the list of each lane. The copy of the list in memory is read again
/// from time to time, because a device that registers again is no longer suspected.
final class SuspectedStaleDevices: Sendable {
    private struct Known {
        /// The suspected stale devices, sorted by channel.
        var channels: [ChannelID]
        var readAt: Timestamp
    }

    /// The maximum number of suspected devices in one lane. Further devices are treated like devices that are not
    /// suspected.
    static let limit = 10_000
    /// The maximum number of pushes in a round of retries of a lane that has suspected stale devices. These devices
    /// share one connection. That connection may carry only one request at a time, and the round must end before the
    /// request timeout.
    static let roundLimit = 250
    /// The maximum number of devices in memory, over all lanes.
    static let totalLimit = 200_000
    static let laneLimit = 10_000
    private static let freshness = Duration.seconds(60)

    private let store: any DeviceStore
    private let lanes = Mutex<[LaneID: Known]>([:])

    init(store: any DeviceStore) {
        self.store = store
    }

    /// Returns the suspected stale devices of a lane, sorted by channel.
    func channels(of lane: LaneID, at now: Timestamp) async -> [ChannelID] {
        let known = lanes.withLock { $0[lane] }
        // The list is also read again if the time of the last read lies far in the future, because then the clock was
        // set back.
        if let known, known.readAt + Self.freshness > now, now + Self.freshness > known.readAt { return known.channels }
        do throws(StorageError) {
            let found = try await store.suspectedStale(of: lane.platform, in: lane.hub, limit: Self.limit)
            lanes.withLock { Self.keep(Known(channels: found, readAt: now), of: lane, in: &$0) }
            return found
        } catch {
            // The error is not reported here. If the store cannot be read, another step of the delivery fails and
            // reports it.
            return known?.channels ?? []
        }
    }

    /// Stores the list of a lane in memory. If there are too many lanes or devices, removes the lists of other lanes,
    /// the least recently read first.
    private static func keep(_ known: Known, of lane: LaneID, in lanes: inout [LaneID: Known]) {
        lanes[lane] = known
        var count = lanes.values.reduce(0) { $0 + $1.channels.count }
        while lanes.count > laneLimit || count > totalLimit,
            let oldest = lanes.filter({ $0.key != lane }).min(by: { $0.value.readAt < $1.value.readAt })
        {
            count -= oldest.value.channels.count
            lanes[oldest.key] = nil
        }
    }

    /// Removes all data about a hub that was deleted, or for which another process sends now.
    func forget(_ hub: Hub.ID) {
        lanes.withLock { lanes in lanes = lanes.filter { $0.key.hub != hub } }
    }

    /// The number of lanes in memory.
    var count: Int { lanes.withLock(\.count) }

    /// Returns the indices of the suspected stale devices in a page. For a page without suspected devices, this takes
    /// only two binary searches.
    func indices(in page: AudiencePage, of lane: LaneID, at now: Timestamp) async -> Set<Int> {
        let channels = await channels(of: lane, at: now)
        guard page.followed.isEmpty else {
            let suspectedStale = Set(channels)
            return Set(page.members.indices.filter { suspectedStale.contains(page.channel($0)) })
        }
        guard let first = page.members.first?.channel, let last = page.members.last?.channel else { return [] }
        let start = channels.index(of: first)
        let end = channels.index(of: ChannelID(rawValue: last.rawValue + 1))
        guard start < end else { return [] }
        let suspectedStale = Set(channels[start..<end])
        return Set(page.members.indices.filter { suspectedStale.contains(page.members[$0].channel) })
    }

    /// Changes the list of a lane in memory. The caller must make the same changes in the store.
    /// - Returns: The devices that were added. Devices that were in the list before, or for which the list has no room,
    ///   are left out.
    func change(_ lane: LaneID, adding new: Set<ChannelID>, removing old: Set<ChannelID>) -> [ChannelID] {
        guard !new.isEmpty || !old.isEmpty else { return [] }
        return lanes.withLock { lanes in
            guard var known = lanes[lane] else { return [] }
            if !old.isEmpty { known.channels.removeAll(where: old.contains) }
            let present = Set(known.channels)
            let room = max(0, Self.limit - present.count)
            let added = Array(new.subtracting(present).sorted { $0.rawValue < $1.rawValue }.prefix(room))
            if !added.isEmpty { known.channels = (known.channels + added).sorted { $0.rawValue < $1.rawValue } }
            lanes[lane] = known
            return added
        }
    }
}

extension [ChannelID] {
    /// Returns the index of the first element that is not less than the given channel. The array must be sorted.
    fileprivate func index(of channel: ChannelID) -> Int {
        var low = 0
        var high = count
        while low < high {
            let middle = (low + high) / 2
            if self[middle].rawValue < channel.rawValue { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
