public import MartletCore
import Synchronization

/// Progress maps in memory.
public final class MemoryProgressMaps: ProgressMaps {
    private let maps = Mutex<[Int64: MemoryProgressMap]>([:])

    public init() {}

    public func map(for notification: Int64, through lastChannel: ChannelID) throws(StorageError) -> any ProgressMap {
        maps.withLock { maps in
            let map = maps[notification] ?? MemoryProgressMap()
            maps[notification] = map
            return map
        }
    }

    public func remove(_ notification: Int64) throws(StorageError) {
        maps.withLock { _ = $0.removeValue(forKey: notification) }
    }

    /// How many notifications have a map.
    public var count: Int { maps.withLock { $0.count } }
}

private final class MemoryProgressMap: ProgressMap {
    private let channels = Mutex<Set<ChannelID>>([])

    func contains(_ channel: ChannelID) -> Bool { channels.withLock { $0.contains(channel) } }
    func insert(_ channel: ChannelID) { channels.withLock { _ = $0.insert(channel) } }
}
