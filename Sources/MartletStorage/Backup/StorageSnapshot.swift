import Glibc
import MartletCore

/// The data that storage held at one point in time, for a backup: a copy of the database, and the files that belong to
/// the database. These files are read while the server uses them.
///
/// Progress maps are read after the database was copied. So they may mark pushes as delivered that the copy does not
/// record as delivered. A killed process leaves the same difference, and the next start of a server can handle it.
/// Payload bodies are read later as well: a body that was removed in between is left out, because its payload had
/// expired.
public final class StorageSnapshot: Sendable {
    /// The names of the migrations that made the database's schema.
    public let schema: [String]
    private let index: SnapshotLocation
    private let maps: FileProgressMaps
    private let bodies: PayloadBodies
    private let unfinished: [Delivery.ID]
    private let thread = FileThread()

    private static let pageSize = 1000

    init(
        at index: SnapshotLocation, schema: [String], unfinished: [Delivery.ID], maps: FileProgressMaps,
        bodies: PayloadBodies
    ) {
        self.index = index
        self.schema = schema
        self.unfinished = unfinished
        self.maps = maps
        self.bodies = bodies
    }

    /// Calls `visit` with each file: the database first, then the other files.
    public func forEachFile(_ visit: (SnapshotFile) async throws -> Void) async throws {
        guard let database = try await open(.database, index.database) else {
            throw StorageError(.unavailable, "The copy of the database is gone; try again.")
        }
        try await visit(database)
        for delivery in unfinished {
            if let map = try await open(.progressMap(delivery), maps.path(of: delivery)) { try await visit(map) }
        }
        if let slots { try await visit(slots) }
        let reader = Reader(try SQLiteStorage.Settings().openReader(index.database))
        var last = ""
        while true {
            let names = try await reader.read { [last] connection throws(StorageError) in
                try connection.all(
                    "SELECT body FROM payloads WHERE body > ? ORDER BY body LIMIT ?", last, Self.pageSize
                ) { $0.text(0) }
            }
            guard let end = names.last else { break }
            last = end
            for name in names {
                if let body = try await body(name) { try await visit(body) }
            }
        }
        await reader.close()
    }

    /// Removes the copy of the database. This also happens when the snapshot is released.
    public func close() async {
        await thread.perform { [index] in index.leave() }
    }

    /// The file with the progress maps of deliveries that have a slot; nil if no delivery has a slot.
    private var slots: SnapshotFile? {
        let bytes = maps.slotBytes(of: unfinished)
        guard !bytes.isEmpty else { return nil }
        return SnapshotFile(.progressSlots, size: Int64(bytes.count)) { offset, count throws(ContainerError) in
            Array(bytes[Int(offset)..<Int(offset) + count])
        }
    }

    /// Opens a file of the snapshot.
    /// - Returns: nil if the file does not exist.
    private func open(_ member: SnapshotMember, _ path: String) async throws(StorageError) -> SnapshotFile? {
        do throws(ContainerError) {
            let (file, size) = try await thread.run { () throws(ContainerError) in
                let file = try OpenFile(reading: path)
                return (file, Int64(try file.status().st_size))
            }
            return SnapshotFile(member, size: size) { [thread] offset, count async throws(ContainerError) in
                try await thread.run { () throws(ContainerError) in try file.read(at: offset, count: count) }
            }
        } catch {
            if error == .noBlob { return nil }
            throw StorageError(error, reading: member)
        }
    }

    private func body(_ name: String) async throws(StorageError) -> SnapshotFile? {
        let member = SnapshotMember.payloadBody(name)
        do throws(ContainerError) {
            let content = try await bodies.open(name)
            return SnapshotFile(member, size: content.blob.size) { offset, count async throws(ContainerError) in
                try await content.read(at: offset, count: count)
            }
        } catch {
            if error == .noBlob { return nil }
            throw StorageError(error, reading: member)
        }
    }
}
