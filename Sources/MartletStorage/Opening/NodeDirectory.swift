import Glibc
public import MartletCore

/// The data directory of a server whose data is in a shared database. The directory contains the files that belong to
/// this process alone: the progress maps, the certificates and the secret key. It is private and locked, like a data
/// directory that contains a database.
public final class NodeDirectory: Sendable {
    private let directory: StorageDirectory

    /// The name of the file that marks a directory as this kind, so that no database is made in it by mistake.
    static let mark = "shared-database"

    /// Returns whether a directory was used as the data directory of a server with a shared database.
    public static func exists(in path: String) -> Bool { StorageDirectory.exists("\(path)/\(mark)") }

    /// Makes the directory if it is missing, and locks it.
    /// - Throws: `StorageError`; `.locked` if another process uses the directory, `.unavailable` if the directory
    ///   contains a database or is marked by a move.
    public init(_ path: String) throws(StorageError) {
        directory = try StorageDirectory(path)
        try SQLiteStorage.checkMarks(path)
        do throws(StorageError) {
            try Self.refuseDatabase(in: path)
        } catch {
            directory.unlock()
            throw error
        }
        try directory.makePrivateFile(Self.mark)
        try directory.makePrivateDirectory("progress")
    }

    /// Opens the progress maps.
    /// - Parameter isNeeded: Whether the map of a delivery is still needed; other maps are removed.
    public func progressMaps(where isNeeded: (Delivery.ID) -> Bool) throws(StorageError) -> FileProgressMaps {
        try FileProgressMaps(in: directory.file("progress"), where: isNeeded)
    }

    /// The incarnations (`NodeStore`) of the process that last used the directory, by the numbers of the clusters; empty
    /// if they are not known. That process has ended, because it had the lock that this process has now.
    public var lastIncarnations: [Int32: Int64] {
        let file = open(directory.file(Self.mark), O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        guard file >= 0 else { return [:] }
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: 65_536)
        let count = read(file, &bytes, bytes.count)
        guard count > 0 else { return [:] }
        var incarnations: [Int32: Int64] = [:]
        for line in String(decoding: bytes.prefix(count), as: UTF8.self).split(separator: "\n") {
            // The first cluster has no number in front, as before there were others.
            let words = line.split(separator: " ")
            guard let incarnation = words.last.flatMap({ Int64($0) }) else { continue }
            incarnations[words.count == 2 ? Int32(words[0]) ?? 0 : 1] = incarnation
        }
        return incarnations
    }

    /// Records the incarnations of this process, so that the next process can read them in `lastIncarnations`.
    public func record(_ incarnations: [Int32: Int64]) throws(StorageError) {
        let path = directory.file(Self.mark)
        let file = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC | O_NOFOLLOW)
        guard file >= 0 else { throw StorageError(failed: "open", path) }
        defer { close(file) }
        let lines = incarnations.sorted { $0.key < $1.key }.map { number, incarnation in
            number == 1 ? "\(incarnation)" : "\(number) \(incarnation)"
        }
        let text = Array(lines.joined(separator: "\n").utf8)
        guard write(file, text, text.count) == text.count else { throw StorageError(failed: "write", path) }
    }

    /// Lets other processes use the directory.
    public func unlock() {
        directory.unlock()
    }

    /// Throws if a directory belongs to a server with a shared database.
    static func refuse(_ path: String) throws(StorageError) {
        guard !exists(in: path) else {
            throw StorageError(
                .unavailable,
                "The data of '\(path)' is in PostgreSQL. Start the server with --database, and let it do the work through "
                    + "its admin socket.")
        }
    }

    /// Throws if a directory has a database of its own, so that a server with a shared database would not serve it.
    static func refuseDatabase(in path: String) throws(StorageError) {
        guard !SQLiteStorage.exists(in: path) else {
            throw StorageError(
                .unavailable,
                "'\(path)' has a database of its own. Serve it without --database, or name another directory with --data. "
                    + "'martlet move' moves hubs and devices to PostgreSQL.")
        }
    }
}
