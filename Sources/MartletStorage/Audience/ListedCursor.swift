import MartletCore

/// Some members, whether they are there or not: to be joined with a set of registrations.
final class ListedCursor: AudienceCursor {
    private let positions: [AudiencePosition]
    private var next = 0

    /// - Parameter members: In order.
    init(_ members: [AudienceMember]) {
        positions = members.map { AudiencePosition($0) }
    }

    override func seek(_ position: AudiencePosition) throws(StorageError) -> AudiencePosition {
        while next < positions.count, positions[next] < position { next += 1 }
        return next < positions.count ? positions[next] : .end
    }
}
