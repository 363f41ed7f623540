import MartletCore

/// A cursor over a list of members, whether their registrations exist or not. It is only useful when intersected with a
/// set of registrations.
final class ListedCursor: AudienceCursor {
    private let positions: [AudiencePosition]
    private var next = 0

    /// Creates a cursor over some members.
    /// - Parameter members: The members in ascending order.
    init(_ members: [AudienceMember]) {
        positions = members.map { AudiencePosition($0) }
    }

    override func seek(_ position: AudiencePosition) throws(StorageError) -> AudiencePosition {
        while next < positions.count, positions[next] < position { next += 1 }
        return next < positions.count ? positions[next] : .end
    }
}
