import MartletModel
import Synchronization

/// Devices of each lane whose last answer refused them and that were kept: their token was called dead while that could
/// not be believed, or the service had too much for them.
///
/// Some services slow a whole connection down after such an answer, so these devices have one of their own and come after
/// the others. The store keeps who they are; what is known here of a lane is read again from time to time, because a
/// device that registers again is none any more.
final class SuspectedStaleDevices: Sendable {
    private struct Known {
        /// In order.
        var channels: [ChannelID]
        var readAt: Timestamp
    }

    /// More of one lane are sent to like everybody else.
    static let limit = 10_000
    /// How many are sent to in one round, which one connection with a single stream gets done in time.
    static let roundLimit = 250
    /// Of all lanes together, in memory.
    static let totalLimit = 200_000
    static let laneLimit = 10_000
    private static let freshness = Duration.seconds(60)

    private let store: any DeviceStore
    private let lanes = Mutex<[LaneID: Known]>([:])

    init(store: any DeviceStore) {
        self.store = store
    }

    /// The suspected devices of a lane, in order.
    func channels(of lane: LaneID, at now: Timestamp) async -> [ChannelID] {
        let known = lanes.withLock { $0[lane] }
        // What was read ahead of now was read before the clock was set back.
        if let known, known.readAt + Self.freshness > now, now + Self.freshness > known.readAt { return known.channels }
        do throws(StorageError) {
            let found = try await store.suspectedStale(of: lane.platform, in: lane.hub, limit: Self.limit)
            lanes.withLock { Self.keep(Known(channels: found, readAt: now), of: lane, in: &$0) }
            return found
        } catch {
            // A store that cannot be read stops the delivery elsewhere.
            return known?.channels ?? []
        }
    }

    /// Those of other lanes that were read longest ago make room.
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

    /// Drops what is known of a hub that is gone.
    func forget(_ hub: Hub.ID) {
        lanes.withLock { lanes in lanes = lanes.filter { $0.key.hub != hub } }
    }

    /// How many lanes it knows.
    var count: Int { lanes.withLock(\.count) }

    /// Places of a page that hold suspectedStale. A page without any costs two searches.
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

    /// Notes changes that the store is about to be told of.
    /// - Returns: Those of the new ones that were none and for which there is room.
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
    /// The index of the first that is not before a channel; in order.
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
