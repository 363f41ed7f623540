/// Stores one bit for each member that a delivery has reached, so that a page that is sent again after a restart does
/// not reach a member twice. The bits survive the end of the process without being written to disk one by one; a power
/// failure may lose them.
public protocol ProgressMaps: Sendable {
    /// Returns the map of a delivery, and creates it if it does not exist.
    /// - Parameters:
    ///   - lastNumber: The highest member number (`AudienceMember.number`) that the map will be asked about.
    ///   - count: The expected number of members in the map; nil if it is unknown. A map for few members costs less.
    ///     More members than expected may be inserted.
    func map(
        for delivery: Delivery.ID, through lastNumber: Int64, expecting count: Int?
    ) throws(StorageError) -> any ProgressMap

    /// Returns the map of an unfinished delivery, without creating one; nil if the delivery has no map.
    func existingMap(for delivery: Delivery.ID, through lastNumber: Int64) throws(StorageError) -> (any ProgressMap)?

    /// Returns whether a delivery has a map. A map is created before anything is sent.
    func hasMap(of delivery: Delivery.ID) -> Bool

    /// Removes the map of a delivery that has ended, or of which nothing was sent.
    func remove(_ delivery: Delivery.ID) throws(StorageError)
}

extension ProgressMaps {
    /// Returns the map of a delivery whose number of members is unknown.
    public func map(for delivery: Delivery.ID, through lastNumber: Int64) throws(StorageError) -> any ProgressMap {
        try map(for: delivery, through: lastNumber, expecting: nil)
    }
}

/// The progress bits of one delivery. Thread-safe.
public protocol ProgressMap: Sendable {
    func contains(_ member: AudienceMember) -> Bool
    func insert(_ member: AudienceMember)
    /// The members in the map: a bitmap for each block of `DeliveredBitmap.size` member numbers in which there is at
    /// least one member.
    var blocks: [DeliveredBitmap] { get }
    /// Returns those of the given blocks that contain members of the map, in the given order.
    /// - Parameter indices: The indices of the blocks, without duplicates.
    func blocks(at indices: [Int64]) -> [DeliveredBitmap]
}

extension ProgressMap {
    public func blocks(at indices: [Int64]) -> [DeliveredBitmap] {
        let all = Dictionary(uniqueKeysWithValues: blocks.map { ($0.index, $0) })
        return indices.compactMap { all[$0] }
    }

    /// Adds the members of a block.
    public func insert(_ block: DeliveredBitmap) {
        // A map knows a member only by its number, which is that of the channel if there is no registration.
        for number in block.numbers { insert(AudienceMember(channel: ChannelID(rawValue: number))) }
    }
}

/// The progress of a delivery that has not begun, or of a test send. It never contains a member.
struct NoProgress: ProgressMap {
    func contains(_ member: AudienceMember) -> Bool { false }
    func insert(_ member: AudienceMember) {}
    var blocks: [DeliveredBitmap] { [] }
}
