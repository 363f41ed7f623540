import MartletCore

/// The members that are in both of two sets. The sets take turns proposing the next candidate, so that the sparser set
/// determines the number of steps.
///
/// The class has two properties instead of an array of sets, because reading an element of an array updates its
/// reference count. With an array, these updates were a seventh of all instructions of an audience count.
final class IntersectionCursor: AudienceCursor {
    private let left: AudienceCursor
    private let right: AudienceCursor
    /// The position that the last `seek` in each set returned.
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
