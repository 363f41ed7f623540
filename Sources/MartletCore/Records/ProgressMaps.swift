/// Keeps one bit for each member that a delivery has reached, so that a resumed page does not send twice. The bits
/// survive the end of the process without being written one by one; a power failure may lose them.
public protocol ProgressMaps: Sendable {
    /// The map of a delivery; created if there is none.
    /// - Parameters:
    ///   - lastNumber: The highest member number that the map will be asked about (`AudienceMember.number`).
    ///   - count: The number of members of the map, if it is known: a small map costs less. More may be inserted.
    func map(
        for delivery: Delivery.ID, through lastNumber: Int64, expecting count: Int?
    ) throws(StorageError) -> any ProgressMap

    /// The map of an unfinished delivery, without creating one; nil if it has none.
    func existingMap(for delivery: Delivery.ID, through lastNumber: Int64) throws(StorageError) -> (any ProgressMap)?

    /// Removes the map of a delivery with a final state.
    func remove(_ delivery: Delivery.ID) throws(StorageError)
}

extension ProgressMaps {
    /// The map of a delivery with an unknown number of members.
    public func map(for delivery: Delivery.ID, through lastNumber: Int64) throws(StorageError) -> any ProgressMap {
        try map(for: delivery, through: lastNumber, expecting: nil)
    }
}

/// The bits of one delivery. Thread-safe.
public protocol ProgressMap: Sendable {
    func contains(_ member: AudienceMember) -> Bool
    func insert(_ member: AudienceMember)
    /// All members in the map.
    var blocks: [DeliveredBitmap] { get }
}
