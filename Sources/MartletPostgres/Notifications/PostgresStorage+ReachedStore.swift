public import MartletCore

extension PostgresStorage: ReachedStore {
    public var reachedStore: (any ReachedStore)? { self }

    public func reached(by delivery: Delivery.ID) async throws(StorageError) -> [DeliveredBitmap] {
        try await read(Shard(ofComposed: delivery.rawValue)) { session throws(StorageError) in
            try RangeTable(session).reached(by: delivery)
        }
    }

    @discardableResult
    public func record(
        _ blocks: ReachedBlocks, of delivery: Delivery.ID
    ) async throws(StorageError) -> Bool {
        try await writeAsOwner(Shard(ofComposed: delivery.rawValue)) { session throws(StorageError) in
            RangeTable(session).insert(blocks.read(), of: delivery)
            return true
        } ?? false
    }
}
