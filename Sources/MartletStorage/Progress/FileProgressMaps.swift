import Glibc
public import MartletCore

/// Progress maps as files of one directory, each mapped into memory.
public final class FileProgressMaps: ProgressMaps {
    private let directory: String
    private let open = Locked<[Int64: FileProgressMap]>([:])

    /// - Parameter unfinished: The notifications whose maps are still needed; others are removed.
    init(in directory: String, keeping unfinished: [Int64]) throws(StorageError) {
        self.directory = directory
        let needed = Set(unfinished.map(String.init))
        for name in try StorageDirectory.entries(of: directory) where !needed.contains(name) {
            unlink("\(directory)/\(name)")
        }
    }

    public func map(for notification: Int64, through lastChannel: ChannelID) throws(StorageError) -> any ProgressMap {
        let path = path(of: notification)
        let result = open.withLock { open in
            Result { () throws(StorageError) in
                if let map = open[notification], map.holds(lastChannel) { return map }
                let map = try FileProgressMap(path, through: lastChannel)
                open[notification] = map
                return map
            }
        }
        return try result.get()
    }

    public func remove(_ notification: Int64) throws(StorageError) {
        open.withLock { _ = $0.removeValue(forKey: notification) }
        let path = path(of: notification)
        guard unlink(path) == 0 || errno == ENOENT else { throw StorageError(failed: "remove", path) }
    }

    private func path(of notification: Int64) -> String { "\(directory)/\(notification)" }
}
