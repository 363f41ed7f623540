public import MartletCore
import Synchronization

/// Progress maps in memory, for tests.
public final class MemoryProgressMaps: ProgressMaps {
    private let maps = Mutex<[Delivery.ID: MemoryProgressMap]>([:])

    public init() {}

    public func map(
        for delivery: Delivery.ID, through lastNumber: Int64, expecting count: Int?
    ) throws(StorageError) -> any ProgressMap {
        map(for: delivery)
    }

    /// Returns the map of a delivery.
    public func map(for delivery: Delivery.ID) -> any ProgressMap {
        maps.withLock { maps in
            let map = maps[delivery] ?? MemoryProgressMap()
            maps[delivery] = map
            return map
        }
    }

    public func existingMap(
        for delivery: Delivery.ID, through lastNumber: Int64
    ) throws(StorageError) -> (any ProgressMap)? {
        maps.withLock { $0[delivery] }
    }

    public func hasMap(of delivery: Delivery.ID) -> Bool { maps.withLock { $0[delivery] != nil } }

    public func remove(_ delivery: Delivery.ID) throws(StorageError) {
        maps.withLock { _ = $0.removeValue(forKey: delivery) }
    }

    /// Returns the maps as the next process would find them if this process were killed now.
    public func copy() -> MemoryProgressMaps {
        let copy = MemoryProgressMaps()
        let found = maps.withLock { $0.mapValues { $0.copy() } }
        copy.maps.withLock { $0 = found }
        return copy
    }

    /// Removes the maps of all other deliveries.
    public func keep(_ deliveries: Set<Delivery.ID>) {
        maps.withLock { maps in maps = maps.filter { deliveries.contains($0.key) } }
    }

    /// The number of deliveries that have a map.
    public var count: Int { maps.withLock { $0.count } }
}

private final class MemoryProgressMap: ProgressMap {
    private let numbers = Mutex<Set<Int64>>([])

    func contains(_ member: AudienceMember) -> Bool { numbers.withLock { $0.contains(member.number) } }
    func insert(_ member: AudienceMember) { numbers.withLock { _ = $0.insert(member.number) } }
    func copy() -> MemoryProgressMap {
        let copy = MemoryProgressMap()
        let found = numbers.withLock { $0 }
        copy.numbers.withLock { $0 = found }
        return copy
    }

    var blocks: [DeliveredBitmap] { DeliveredBitmap.blocks(of: numbers.withLock { $0.sorted() }) }
}
