public import MartletCore
import MartletModel
import Synchronization

/// A blob or a block that is being written, chunk by chunk. Bytes that do not fill a chunk yet are kept in memory.
final class PostgresUpload: BlobUpload {
    /// The blob or block that the written content becomes.
    enum Destination: Sendable {
        case blob(BlobAddress)
        case block([UInt8], BlobAddress)
    }

    /// The offset in bytes at which the next chunk of the content begins, and the first bytes of that chunk.
    struct Place: Sendable {
        /// The number of the content; nil until the first chunk is written.
        var content: Int64?
        var start: Int64 = 0
        var bytes: [UInt8] = []
        /// The error that left a gap in the content; nil if there is no gap.
        var failure: ContainerError?

        var size: Int64 { start + Int64(bytes.count) }
    }

    private let store: PostgresContainerStore
    private let destination: Destination
    private let place: Mutex<Place>

    /// The size of a chunk in bytes.
    static let chunkSize = 256 << 10

    init(_ store: PostgresContainerStore, _ destination: Destination, _ place: Place = Place()) {
        self.store = store
        self.destination = destination
        self.place = Mutex(place)
    }

    func write(_ bytes: [UInt8]) async throws(ContainerError) {
        let chunks = place.withLock { place in
            place.bytes += bytes
            var chunks: [Place] = []
            var rest = place.bytes[...]
            while rest.count >= Self.chunkSize {
                chunks.append(Place(start: place.start, bytes: Array(rest.prefix(Self.chunkSize))))
                rest = rest.dropFirst(Self.chunkSize)
                place.start += Int64(Self.chunkSize)
            }
            if !chunks.isEmpty { place.bytes = Array(rest) }
            return chunks
        }
        for chunk in chunks { try await put(chunk) }
    }

    func synchronize() async throws(ContainerError) {
        let rest = place.withLock { $0 }
        if let failure = rest.failure { throw failure }
        // The same bytes are written again when the rest of their chunk follows.
        try await put(rest)
    }

    func commit(_ condition: BlobCondition) async throws(ContainerError) -> Blob {
        let rest = place.withLock { $0 }
        if let failure = rest.failure { throw failure }
        let (store, destination) = (store, destination)
        return try await store.transaction { connection, patience throws(DatabaseFailure) in
            let address = destination.address
            if case .blob = destination, let refusal = try store.refusal(address, condition, connection, patience) {
                return .failure(refusal)
            }
            let content = try Self.number(rest.content, connection, patience)
            guard try Self.write(rest, to: content, connection, patience) else {
                return .failure(PostgresContainerStore.gone)
            }
            let naming: Batch
            switch destination {
            case .blob: naming = store.naming(content, address, size: rest.size)
            case .block(let id, _): naming = store.naming(content, address, asBlock: id, size: rest.size)
            }
            guard let row = try connection.run(naming, patience).last, row.count == 1 else {
                return .failure(.noContainer)
            }
            return .success(Blob(address.name, row[0], from: 0))
        }
    }

    func abandon() async {
        guard let content = place.withLock({ $0.content }) else { return }
        _ = try? await store.storage.change(ContainerStatements.abandon) { $0.add(content) }
    }

    private func put(_ chunk: Place) async throws(ContainerError) {
        let known = place.withLock { $0.content }
        do throws(ContainerError) {
            let content = try await store.transaction { connection, patience throws(DatabaseFailure) in
                let content = try Self.number(known, connection, patience)
                return try Self.write(chunk, to: content, connection, patience)
                    ? .success(content) : .failure(PostgresContainerStore.gone)
            }
            place.withLock { $0.content = content }
        } catch {
            place.withLock { $0.failure = error }
            throw error
        }
    }

    // MARK: On the thread of a connection

    /// Returns the number of the upload's content. Makes the row of the content if there is none yet.
    private static func number(
        _ known: Int64?, _ connection: Connection, _ patience: Connection.Patience
    ) throws(DatabaseFailure) -> Int64 {
        if let known { return known }
        return try connection.run(Batch(ContainerStatements.begin), patience)[0][0].integer(0)
    }

    /// Writes a chunk.
    /// - Returns: False if the content has been removed.
    private static func write(
        _ chunk: Place, to content: Int64, _ connection: Connection, _ patience: Connection.Patience
    ) throws(DatabaseFailure) -> Bool {
        var batch = Batch(ContainerStatements.keep) { $0.add(content) }
        guard try connection.run(batch, patience)[0].changes == 1 else { return false }
        guard !chunk.bytes.isEmpty else { return true }
        batch = Batch(ContainerStatements.putChunk) {
            $0.add(content)
            $0.add(chunk.start)
            $0.add(chunk.bytes)
        }
        try connection.run(batch, patience)
        return true
    }
}

extension PostgresUpload.Destination {
    fileprivate var address: BlobAddress {
        switch self {
        case .blob(let address), .block(_, let address): address
        }
    }
}

extension PostgresContainerStore {
    /// Locks a container, and returns the reason why a blob may not be stored at its address; nil if it may.
    fileprivate func refusal(
        _ address: BlobAddress, _ condition: BlobCondition, _ connection: Connection, _ patience: Connection.Patience
    ) throws(DatabaseFailure) -> ContainerError? {
        let name = Array(address.name.text.utf8)
        let slashes = name.indices.filter { name[$0] == UInt8(ascii: "/") }
        var batch = of(address.container, ContainerStatements.lock)
        batch.append(of(address, ContainerStatements.find))
        batch.add(ContainerStatements.isTaken) {
            $0.add(space.rawValue)
            $0.add(address.container.text)
            $0.add(slashes.map { Array(name[..<$0]) })
            $0.add(name + [UInt8(ascii: "/")])
            $0.add(name + [UInt8(ascii: "/") + 1])
        }
        let rows = try connection.run(batch, patience)
        guard rows[0].count == 1 else { return .noContainer }
        let known = rows[1].count == 1 ? Blob(address.name, rows[1][0], from: 0) : nil
        switch condition {
        case .none: break
        case .absent: if known != nil { return .conditionFailed }
        case .entityTag(let tag): if known?.entityTag != tag { return .conditionFailed }
        }
        return rows[2].count > 0 ? .nameTaken : nil
    }

    /// Returns the statements that make a content the content of a blob. The last statement returns the blob.
    fileprivate func naming(_ content: Int64, _ address: BlobAddress, size: Int64) -> Batch {
        var batch = Batch(ContainerStatements.use) { $0.add(content) }
        batch.add(ContainerStatements.put) {
            $0.add(space.rawValue)
            $0.add(address.container.text)
            $0.add(address.name.text)
            $0.add(content)
            $0.add(size)
        }
        return batch
    }

    fileprivate func naming(_ content: Int64, _ address: BlobAddress, asBlock id: [UInt8], size: Int64) -> Batch {
        Batch(ContainerStatements.putBlock) {
            $0.add(space.rawValue)
            $0.add(address.container.text)
            $0.add(address.name.text)
            $0.add(id)
            $0.add(content)
            $0.add(size)
        }
    }

    public func commitBlocks(
        _ ids: [[UInt8]], of address: BlobAddress, _ condition: BlobCondition
    ) async throws(ContainerError) -> Blob {
        try await transaction { connection, patience throws(DatabaseFailure) in
            if let refusal = try refusal(address, condition, connection, patience) { return .failure(refusal) }
            let reading = Batch(ContainerStatements.blocks) {
                $0.add(space.rawValue)
                $0.add(address.container.text)
                $0.add(address.name.text)
                $0.add(Array(Set(ids)))
            }
            let rows = try connection.run(reading, patience)[0]
            var list = BlockList((0..<rows.count).map { (rows[$0].bytes(0), rows[$0].integer(1), rows[$0].integer(2)) })
            do throws(ContainerError) {
                try list.add(ids)
            } catch {
                return .failure(error)
            }
            let begun = try connection.run(Batch(ContainerStatements.begin), patience)[0]
            let content = begun[0].integer(0)
            var batch = Batch(ContainerStatements.moveChunks) {
                $0.add(content)
                $0.add(list.moves.map(\.content))
                $0.add(list.moves.map(\.offset))
            }
            if !list.repetitions.isEmpty {
                batch.add(ContainerStatements.repeatChunks) {
                    $0.add(content)
                    $0.add(list.repetitions.map(\.first))
                    $0.add(list.repetitions.map(\.size))
                    $0.add(list.repetitions.map(\.target))
                }
            }
            batch.append(of(address, ContainerStatements.removeBlocks))
            batch.append(naming(content, address, size: list.size))
            let named = try connection.run(batch, patience)
            return .success(Blob(address.name, named[named.count - 1][0], from: 0))
        }
    }
}

/// Computes where the blocks of a block list lie in the content of their blob.
struct BlockList {
    private let blocks: [[UInt8]: (content: Int64, size: Int64)]
    private var firsts: [[UInt8]: Int64] = [:]
    /// The contents of the blocks, each with the block's offset in bytes in the blob.
    private(set) var moves: [(content: Int64, offset: Int64)] = []
    /// The blocks that occur again in the list: the offset of the first occurrence, the size, and the offset of the
    /// repetition, all in bytes.
    private(set) var repetitions: [(first: Int64, size: Int64, target: Int64)] = []
    private(set) var size: Int64 = 0

    init(_ blocks: [(id: [UInt8], content: Int64, size: Int64)]) {
        self.blocks = Dictionary(blocks.map { ($0.id, ($0.content, $0.size)) }) { first, _ in first }
    }

    /// Appends blocks to the blob.
    /// - Throws: `.noBlock` if a block does not exist, or `.tooLarge`.
    mutating func add(_ ids: [[UInt8]]) throws(ContainerError) {
        for id in ids {
            guard let block = blocks[id] else { throw .noBlock }
            if let first = firsts[id] {
                repetitions.append((first, block.size, size))
            } else {
                firsts[id] = size
                moves.append((block.content, size))
            }
            size += block.size
            guard size <= Blob.sizeLimit else { throw .tooLarge }
        }
    }
}
