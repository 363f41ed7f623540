import MartletCore

/// What is in any of two sets.
final class UnionCursor: AudienceCursor {
    private let left: AudienceCursor
    private let right: AudienceCursor
    /// Where they stand.
    private var leftPlace = AudiencePosition.start
    private var rightPlace = AudiencePosition.start

    init(_ left: AudienceCursor, _ right: AudienceCursor) {
        self.left = left
        self.right = right
    }

    override func seek(_ position: AudiencePosition) throws(StorageError) -> AudiencePosition {
        if leftPlace < position { leftPlace = try left.seek(position) }
        if rightPlace < position { rightPlace = try right.seek(position) }
        return min(leftPlace, rightPlace)
    }

    override func probe(_ position: AudiencePosition) throws(StorageError) -> AudiencePosition {
        if leftPlace <= position { leftPlace = try left.probe(position) }
        if rightPlace <= position { rightPlace = try right.probe(position) }
        return min(leftPlace, rightPlace)
    }
}
