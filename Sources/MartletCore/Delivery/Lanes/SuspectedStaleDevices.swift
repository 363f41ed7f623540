import MartletModel
import Synchronization

/// The suspected stale devices of each lane: their last answer refused them, and they were kept, because the service
/// called their token dead while that was not believed, or throttled them.
///
/// Some services slow down a whole connection after such an answer, so these devices have a connection of their own and
/// are sent to after the others. The store keeps the list; the copy of a lane in memory is read again from time to
/// time, because a device that registers again is no longer suspected.
final class SuspectedStaleDevices: Sendable {
    private struct Known {
        /// Sorted.
        var channels: [ChannelID]
        var readAt: Timestamp
    }

    /// The most suspected devices of one lane; any further ones are treated like all other devices.
    static let limit = 10_000
    /// The most devices in one round, so that one connection with a single stream completes the round in time.
    static let roundLimit = 250
    /// The most devices in memory, of all lanes together.
    static let totalLimit = 200_000
    static let laneLimit = 10_000
    private static let freshness = Duration.seconds(60)

    private let store: any DeviceStore
    private let lanes = Mutex<[LaneID: Known]>([:])

    init(store: any DeviceStore) {
        self.store = store
    }

    /// The suspected stale devices of a lane, sorted.
    func channels(of lane: LaneID, at now: Timestamp) async -> [ChannelID] {
        let known = lanes.withLock { $0[lane] }
        // A list that was read at a later time than now was read before the clock was set back.
        if let known, known.readAt + Self.freshness > now, now + Self.freshness > known.readAt { return known.channels }
        do throws(StorageError) {
            let found = try await store.suspectedStale(of: lane.platform, in: lane.hub, limit: Self.limit)
            lanes.withLock { Self.keep(Known(channels: found, readAt: now), of: lane, in: &$0) }
            return found
        } catch {
            // If the store cannot be read, the delivery fails elsewhere.
            return known?.channels ?? []
        }
    }

    /// Stores a list, and removes the lists of other lanes that were read longest ago if there are too many.
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

    /// Drops everything about a hub that was deleted.
    func forget(_ hub: Hub.ID) {
        lanes.withLock { lanes in lanes = lanes.filter { $0.key.hub != hub } }
    }

    /// The number of lanes in memory.
    var count: Int { lanes.withLock(\.count) }

    /// The indices of suspected stale devices in a page. For a page without any this takes two binary searches.
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

    /// Applies changes that the store will be told of.
    /// - Returns: The added devices that were not suspected before and for which there is room.
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
    /// The index of the first element that is not before a channel; the array is sorted.
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
