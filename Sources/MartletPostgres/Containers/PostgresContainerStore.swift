public import MartletCore
import MartletModel

/// Stores containers in the database, so that every node has access to them, and a backup of the database contains
/// them.
public struct PostgresContainerStore: ContainerStore {
    let storage: PostgresStorage
    let space: BlobSpace

    // MARK: Containers

    public func createContainer(_ name: ContainerName) async throws(ContainerError) -> Bool {
        try await transaction { connection, patience throws(DatabaseFailure) in
            .success(try connection.run(of(name, ContainerStatements.create), patience)[0].changes == 1)
        }
    }

    public func containers() async throws(ContainerError) -> [ContainerName] {
        let rows = try await read(Batch(ContainerStatements.names) { $0.add(space.rawValue) })[0]
        return (0..<rows.count).compactMap { ContainerName(rows[$0].text(0)) }
    }

    public func deleteContainer(_ name: ContainerName) async throws(ContainerError) {
        try await transaction { connection, patience throws(DatabaseFailure) -> Result<Void, ContainerError> in
            var batch = of(name, ContainerStatements.lock)
            for statement in [
                ContainerStatements.removeBlobs, ContainerStatements.removeAllBlocks, ContainerStatements.remove,
            ] {
                batch.append(of(name, statement))
            }
            let rows = try connection.run(batch, patience)
            return rows[0].count == 1 ? .success(()) : .failure(.noContainer)
        }
    }

    public func blobs(_ query: BlobQuery) async throws(ContainerError) -> BlobPage {
        let first = Array(query.prefix.utf8)
        var batch = of(query.container, ContainerStatements.exists)
        batch.add(ContainerStatements.list) {
            $0.add(space.rawValue)
            $0.add(query.container.text)
            $0.add(first)
            // 0xFF does not occur in UTF-8, so this text sorts after every name with the prefix.
            $0.add(first + [0xFF])
            $0.add(query.after ?? "")
            // Reads one blob more than the page holds. If that blob exists, there are more pages.
            $0.add(Int64(query.limit) + 1)
        }
        let rows = try await read(batch)
        guard rows[0].count == 1 else { throw .noContainer }
        let count = min(rows[1].count, query.limit)
        let blobs = (0..<count).compactMap { index -> Blob? in
            let row = rows[1][index]
            return BlobName(row.text(0)).map { Blob($0, row, from: 1) }
        }
        return BlobPage(blobs: blobs, hasMore: rows[1].count > count)
    }

    // MARK: Blobs

    public func openBlob(_ address: BlobAddress) async throws(ContainerError) -> any BlobContent {
        var batch = of(address.container, ContainerStatements.exists)
        batch.append(of(address, ContainerStatements.find))
        let rows = try await read(batch)
        guard rows[0].count == 1 else { throw .noContainer }
        guard rows[1].count == 1 else { throw .noBlob }
        let blob = Blob(address.name, rows[1][0], from: 0)
        return PostgresBlob(blob: blob, content: rows[1][0].integer(0), store: self)
    }

    public func upload(_ address: BlobAddress, _ kind: BlobUploadKind) async throws(ContainerError) -> any BlobUpload {
        switch kind {
        case .fresh:
            try await requireContainer(address.container)
            return PostgresUpload(self, .blob(address))
        case .resumable(let key, let offset):
            return try await resume(key, at: offset, address)
        }
    }

    public func uploadBlock(_ id: [UInt8], of address: BlobAddress) async throws(ContainerError) -> any BlobUpload {
        guard (1...64).contains(id.count) else { throw .noBlock }
        try await requireContainer(address.container)
        return PostgresUpload(self, .block(id, address))
    }

    public func deleteBlob(_ address: BlobAddress) async throws(ContainerError) {
        try await transaction { connection, patience throws(DatabaseFailure) -> Result<Void, ContainerError> in
            var batch = of(address.container, ContainerStatements.lock)
            batch.append(of(address, ContainerStatements.delete))
            let rows = try connection.run(batch, patience)
            guard rows[0].count == 1 else { return .failure(.noContainer) }
            return rows[1].changes == 1 ? .success(()) : .failure(.noBlob)
        }
    }

    // MARK: Contents

    private func requireContainer(_ name: ContainerName) async throws(ContainerError) {
        let rows = try await read(of(name, ContainerStatements.exists))[0]
        guard rows.count == 1 else { throw .noContainer }
    }

    private func resume(
        _ key: String, at offset: Int64, _ address: BlobAddress
    ) async throws(ContainerError) -> PostgresUpload {
        let key = "\(space.rawValue)/\(key)"
        let place = try await transaction {
            connection, patience throws(DatabaseFailure) -> Result<PostgresUpload.Place, ContainerError> in
            var batch = of(address.container, ContainerStatements.exists)
            batch.add(ContainerStatements.resume) { $0.add(key) }
            let rows = try connection.run(batch, patience)
            guard rows[0].count == 1 else { return .failure(.noContainer) }
            guard rows[1].count == 1 else { return .failure(Self.gone) }
            let content = rows[1][0].integer(0)
            var cutting = Batch(ContainerStatements.chunkBefore) {
                $0.add(content)
                $0.add(offset)
            }
            cutting.add(ContainerStatements.cut) {
                $0.add(content)
                $0.add(offset)
            }
            let found = try connection.run(cutting, patience)[0]
            let (start, data) = found.count == 1 ? (found[0].integer(0), found[0].bytes(1)) : (0, [])
            guard start + Int64(data.count) >= offset else {
                return .failure(
                    .storage(StorageError(.corrupt, "An upload is shorter than what is known to be in it.")))
            }
            // The bytes of the chunk before the offset are kept in memory, and are written again with the next bytes.
            return .success(
                PostgresUpload.Place(content: content, start: start, bytes: Array(data.prefix(Int(offset - start)))))
        }
        return PostgresUpload(self, .blob(address), place)
    }

    static let gone = ContainerError.storage(
        StorageError(.unavailable, "The upload was not continued for a week and has been removed. Begin again."))

    // MARK: Running

    func of(_ name: ContainerName, _ statement: Statement) -> Batch {
        Batch(statement) {
            $0.add(space.rawValue)
            $0.add(name.text)
        }
    }

    func of(_ address: BlobAddress, _ statement: Statement) -> Batch {
        Batch(statement) {
            $0.add(space.rawValue)
            $0.add(address.container.text)
            $0.add(address.name.text)
        }
    }

    func read(_ batch: Batch) async throws(ContainerError) -> [Rows] {
        do throws(StorageError) {
            return try await storage.readPage(batch)
        } catch {
            throw .storage(error)
        }
    }

    func transaction<Value: Sendable>(
        _ work:
            @escaping @Sendable (Connection, Connection.Patience) throws(DatabaseFailure) ->
            Result<Value, ContainerError>
    ) async throws(ContainerError) -> Value {
        let result: Result<Value, ContainerError>
        do throws(StorageError) {
            result = try await storage.transaction(work)
        } catch {
            throw .storage(error)
        }
        return try result.get()
    }
}

extension Blob {
    /// Creates a blob from a row.
    /// - Parameter first: The column of the content. The columns of the size and of the time follow it.
    init(_ name: BlobName, _ row: Row, from first: Int32) {
        self.init(
            name: name, size: row.integer(first + 1), modifiedAt: row.timestamp(first + 2),
            entityTag: "\"\(row.integer(first))\"")
    }
}

/// A blob that is being read. Its content stays readable for a quarter of an hour after the blob was replaced or
/// deleted.
private struct PostgresBlob: BlobContent {
    let blob: Blob
    let content: Int64
    let store: PostgresContainerStore

    func read(at offset: Int64, count: Int) async throws(ContainerError) -> [UInt8] {
        let end = min(blob.size, offset + Int64(count))
        guard offset >= 0, end > offset else { return [] }
        let batch = Batch(ContainerStatements.read) {
            $0.add(content)
            $0.add(offset)
            $0.add(end)
        }
        let rows = try await store.read(batch)[0]
        var bytes: [UInt8] = []
        bytes.reserveCapacity(Int(end - offset))
        for index in 0..<rows.count { rows[index].withBytes(0) { bytes.append(contentsOf: $0) } }
        guard bytes.count == Int(end - offset) else { throw .noBlob }
        return bytes
    }
}

extension PostgresStorage {
    /// The containers of jobs.
    public var containers: PostgresContainerStore { PostgresContainerStore(storage: self, space: .jobs) }

    /// The bodies of payloads.
    public var payloadBodies: PayloadBodies {
        PayloadBodies(PostgresContainerStore(storage: self, space: .payloads))
    }

    /// Removes contents that no blob uses any more, and uploads that were not continued in time. Any number of nodes
    /// may call this at the same time.
    func sweepContents() async throws(StorageError) {
        for statement in [ContainerStatements.releaseBodies, ContainerStatements.claim] {
            _ = try await change(statement) { _ in }
        }
        var count = ContainerStatements.chunkLimit
        while count >= ContainerStatements.chunkLimit, !Task.isCancelled {
            count = try await transaction { connection, patience throws(DatabaseFailure) in
                try connection.run(Batch(ContainerStatements.removeChunks), patience)[0].changes
            }
        }
        _ = try await change(ContainerStatements.removeContents) { _ in }
    }
}
