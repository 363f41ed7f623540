import MartletCore

/// The members that are in at least one of two sets.
final class UnionCursor: AudienceCursor {
    private let left: AudienceCursor
    private let right: AudienceCursor
    /// The position that the last `seek` or `probe` in each set returned.
    private var leftIndex = AudiencePosition.start
    private var rightIndex = AudiencePosition.start

    init(_ left: AudienceCursor, _ right: AudienceCursor) {
        self.left = left
        self.right = right
    }

    override func seek(_ position: AudiencePosition) throws(StorageError) -> AudiencePosition {
        if leftIndex < position { leftIndex = try left.seek(position) }
        if rightIndex < position { rightIndex = try right.seek(position) }
        return min(leftIndex, rightIndex)
    }

    override func probe(_ position: AudiencePosition) throws(StorageError) -> AudiencePosition {
        if leftIndex <= position { leftIndex = try left.probe(position) }
        if rightIndex <= position { rightIndex = try right.probe(position) }
        return min(leftIndex, rightIndex)
    }
}
