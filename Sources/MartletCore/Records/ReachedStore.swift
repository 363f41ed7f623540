/// Stores which members a delivery has reached while it still runs. It is there in a storage that several processes
/// share: a progress map is a file of one process, and the process that goes on with the delivery has only the storage.
public protocol ReachedStore: Sendable {
    /// Returns the blocks of members that a delivery has reached, as far as they were stored.
    func reached(by delivery: Delivery.ID) async throws(StorageError) -> [DeliveredBitmap]

    /// Stores blocks of a running delivery. A stored block with the same index is replaced.
    /// - Returns: False if another process sends for the hub now, or if the hub was deleted. Then nothing was written.
    @discardableResult
    func record(_ blocks: ReachedBlocks, of delivery: Delivery.ID) async throws(StorageError) -> Bool
}

/// Some blocks of a progress map, read only when the store writes them. The writes of a hub are done one after another,
/// and a map only ever gains members. So a block that is written later has all members of one that was written earlier,
/// and may replace it.
public struct ReachedBlocks: Sendable {
    private let map: any ProgressMap
    /// The indices of the blocks (`DeliveredBitmap.index(of:)`).
    private let indices: [Int64]

    public init(_ indices: [Int64], of map: any ProgressMap) {
        self.map = map
        self.indices = indices
    }

    /// Reads the blocks from the map. Blocks without members are left out.
    public func read() -> [DeliveredBitmap] { map.blocks(at: indices) }
}
