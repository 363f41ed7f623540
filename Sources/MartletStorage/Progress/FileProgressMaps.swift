import Glibc
public import MartletCore

/// Progress maps as files of one directory, each mapped into memory while somebody holds it: many notifications can wait
/// at a time, and each open map costs a descriptor.
public final class FileProgressMaps: ProgressMaps {
    private let directory: String
    /// Maps with bits that are in memory alone, because the disk is full.
    private let homeless = Locked<[Int64: FileProgressMap]>([:])

    /// - Parameter unfinished: The notifications whose maps are still needed; others are removed.
    init(in directory: String, keeping unfinished: [Int64]) throws(StorageError) {
        self.directory = directory
        let needed = Set(unfinished.map(String.init))
        for name in try StorageDirectory.entries(of: directory) where !needed.contains(name) {
            unlink("\(directory)/\(name)")
        }
    }

    public func map(for notification: Int64, through lastChannel: ChannelID) throws(StorageError) -> any ProgressMap {
        if let map = homeless.withLock({ $0[notification] }), map.holds(lastChannel) { return map }
        return try FileProgressMap(path(of: notification), through: lastChannel) { [homeless] map in
            homeless.withLock { $0[notification] = map }
        }
    }

    public func remove(_ notification: Int64) throws(StorageError) {
        homeless.withLock { _ = $0.removeValue(forKey: notification) }
        let path = path(of: notification)
        guard unlink(path) == 0 || errno == ENOENT else { throw StorageError(failed: "remove", path) }
    }

    private func path(of notification: Int64) -> String { "\(directory)/\(notification)" }
}
