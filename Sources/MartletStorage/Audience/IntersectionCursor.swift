import MartletCore

/// What is in both of two sets. Each in turn proposes the next candidate, so that the sparser sets the pace.
///
/// Two and no list of them: reading an element of an array counts its references, which was a seventh of all instructions
/// of a count.
final class IntersectionCursor: AudienceCursor {
    private let left: AudienceCursor
    private let right: AudienceCursor
    /// Where they are.
    private var leftIndex = AudiencePosition.start
    private var rightIndex = AudiencePosition.start

    init(_ left: AudienceCursor, _ right: AudienceCursor) {
        self.left = left
        self.right = right
    }

    override func seek(_ position: AudiencePosition) throws(StorageError) -> AudiencePosition {
        var candidate = position
        while true {
            if leftIndex < candidate { leftIndex = try left.seek(candidate) }
            if leftIndex == .end { return .end }
            if rightIndex < leftIndex { rightIndex = try right.seek(leftIndex) }
            if rightIndex == leftIndex || rightIndex == .end { return rightIndex }
            candidate = rightIndex
        }
    }

    override func probe(_ position: AudiencePosition) throws(StorageError) -> AudiencePosition {
        let next = try left.probe(position)
        return next == position ? try right.probe(position) : next
    }
}
