/// Remembers, one bit per member, whom a delivery has reached, so that a resumed page does not send twice. The bits
/// survive the end of the process without being written one by one; they may be lost with power.
public protocol ProgressMaps: Sendable {
    /// The map of a delivery, made where there is none.
    /// - Parameters:
    ///   - lastNumber: The highest member number that the map will be asked about (`AudienceMember.number`).
    ///   - count: How many members it is made for, where that is known: a map for few costs less. More may be inserted.
    func map(
        for delivery: Delivery.ID, through lastNumber: Int64, expecting count: Int?
    ) throws(StorageError) -> any ProgressMap

    /// The map of a delivery that is under way, for a look at it; nil where it has none.
    func existingMap(for delivery: Delivery.ID, through lastNumber: Int64) throws(StorageError) -> (any ProgressMap)?

    /// Forgets the map of a delivery that is final.
    func remove(_ delivery: Delivery.ID) throws(StorageError)
}

extension ProgressMaps {
    /// The map of a delivery of which it is not known how many it is for.
    public func map(for delivery: Delivery.ID, through lastNumber: Int64) throws(StorageError) -> any ProgressMap {
        try map(for: delivery, through: lastNumber, expecting: nil)
    }
}

/// The bits of one delivery. Thread-safe.
public protocol ProgressMap: Sendable {
    func contains(_ member: AudienceMember) -> Bool
    func insert(_ member: AudienceMember)
    /// Everybody who is in it.
    var blocks: [DeliveredBitmap] { get }
}
