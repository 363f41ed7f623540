/// Remembers, one bit per member, whom a delivery has reached, so that a resumed page does not send twice. The bits
/// survive the end of the process without being written one by one; they may be lost with power.
public protocol ProgressMaps: Sendable {
    /// The map of a delivery, made where there is none.
    /// - Parameter lastNumber: The highest member number that the map will be asked about (`AudienceMember.number`).
    func map(for delivery: Delivery.ID, through lastNumber: Int64) throws(StorageError) -> any ProgressMap

    /// The map of a delivery that is under way, for a look at it; nil where it has none.
    func existingMap(for delivery: Delivery.ID, through lastNumber: Int64) throws(StorageError) -> (any ProgressMap)?

    /// Forgets the map of a delivery that is final.
    func remove(_ delivery: Delivery.ID) throws(StorageError)
}

/// The bits of one delivery. Thread-safe.
public protocol ProgressMap: Sendable {
    func contains(_ member: AudienceMember) -> Bool
    func insert(_ member: AudienceMember)
    /// Everybody who is in it.
    var blocks: [ReachedBlock] { get }
}
