import MartletCore

/// What is in any of some sets.
final class UnionCursor: AudienceCursor {
    private let cursors: [AudienceCursor]

    init(_ cursors: [AudienceCursor]) {
        self.cursors = cursors
    }

    override func seek(_ position: AudiencePosition) throws(StorageError) -> AudiencePosition {
        var first = AudiencePosition.end
        for cursor in cursors { first = min(first, try cursor.seek(position)) }
        return first
    }

    override func contains(_ position: AudiencePosition) throws(StorageError) -> Bool {
        for cursor in cursors where try cursor.contains(position) { return true }
        return false
    }
}
