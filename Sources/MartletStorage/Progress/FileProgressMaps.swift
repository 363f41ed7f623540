import Glibc
public import MartletCore

/// Progress maps as files of one directory, each mapped into memory while somebody holds it: many deliveries can wait
/// at a time, and each open map costs a descriptor.
public final class FileProgressMaps: ProgressMaps {
    private let directory: String
    /// Maps that somebody holds: which pages of a file are there is known to the map that wrote them.
    private let opened = Locked<[Delivery.ID: Opened]>([:])
    /// Maps with bits that are in memory alone, because the disk is full.
    private let homeless = Locked<[Delivery.ID: FileProgressMap]>([:])

    /// Who reads maps for a backup, and the maps that are removed once nobody does.
    private let holding = Locked<Holding>(Holding())

    private struct Opened {
        weak var map: FileProgressMap?
    }

    private struct Holding {
        var readers = 0
        var over: [Delivery.ID] = []
    }

    /// - Parameter unfinished: The deliveries whose maps are still needed; others are removed.
    init(in directory: String, keeping unfinished: [Delivery.ID]) throws(StorageError) {
        self.directory = directory
        let needed = Set(unfinished.map { String($0.rawValue) })
        for name in try StorageDirectory.entries(of: directory) where !needed.contains(name) {
            unlink("\(directory)/\(name)")
        }
    }

    public func map(for delivery: Delivery.ID, through lastNumber: Int64) throws(StorageError) -> any ProgressMap {
        if let map = homeless.withLock({ $0[delivery] }), map.holds(lastNumber) { return map }
        return try opened.withLock { opened throws(StorageError) in
            if let map = opened[delivery]?.map, map.holds(lastNumber) { return map }
            let map = try FileProgressMap(path(of: delivery), through: lastNumber) { [homeless] map in
                homeless.withLock { $0[delivery] = map }
            }
            opened[delivery] = Opened(map: map)
            return map
        }
    }

    public func existingMap(
        for delivery: Delivery.ID, through lastNumber: Int64
    ) throws(StorageError) -> (any ProgressMap)? {
        guard homeless.withLock({ $0[delivery] != nil }) || access(path(of: delivery), F_OK) == 0 else { return nil }
        return try map(for: delivery, through: lastNumber)
    }

    public func remove(_ delivery: Delivery.ID) throws(StorageError) {
        homeless.withLock { _ = $0.removeValue(forKey: delivery) }
        opened.withLock { _ = $0.removeValue(forKey: delivery) }
        let isHeld = holding.withLock { holding in
            if holding.readers > 0 { holding.over.append(delivery) }
            return holding.readers > 0
        }
        if !isHeld { try removeFile(of: delivery) }
    }

    private func removeFile(of delivery: Delivery.ID) throws(StorageError) {
        let path = path(of: delivery)
        guard unlink(path) == 0 || errno == ENOENT else { throw StorageError(failed: "remove", path) }
    }

    /// Keeps the maps of deliveries that end from now on, until as many calls of `release`.
    func hold() {
        holding.withLock { $0.readers += 1 }
    }

    /// A map that cannot be removed now is removed at the next start.
    func release() {
        let over = holding.withLock { holding in
            holding.readers -= 1
            guard holding.readers == 0 else { return [Delivery.ID]() }
            defer { holding.over = [] }
            return holding.over
        }
        for delivery in over { try? removeFile(of: delivery) }
    }

    func path(of delivery: Delivery.ID) -> String { "\(directory)/\(delivery.rawValue)" }
}
