import MartletCore

/// What is in all of some sets and in none of others. Each included set in turn proposes the next candidate, so that
/// the sparsest sets the pace.
final class JoinCursor: AudienceCursor {
    private let including: [AudienceCursor]
    private let excluding: [AudienceCursor]

    init(including: [AudienceCursor], excluding: [AudienceCursor]) {
        self.including = including
        self.excluding = excluding
    }

    override func seek(_ position: AudiencePosition) throws(StorageError) -> AudiencePosition {
        var candidate = try agreed(from: position)
        while candidate != .end, try isExcluded(candidate) { candidate = try agreed(from: candidate.next) }
        return candidate
    }

    override func contains(_ position: AudiencePosition) throws(StorageError) -> Bool {
        for cursor in including where try !cursor.contains(position) { return false }
        return try !isExcluded(position)
    }

    /// The first position that all included sets have.
    private func agreed(from position: AudiencePosition) throws(StorageError) -> AudiencePosition {
        if including.count == 1 { return try including[0].seek(position) }
        var candidate = position
        var agreeing = 0
        while agreeing < including.count {
            for cursor in including {
                let found = try cursor.seek(candidate)
                agreeing = found == candidate ? agreeing + 1 : 1
                candidate = found
                if agreeing == including.count || candidate == .end { return candidate }
            }
        }
        return candidate
    }

    private func isExcluded(_ position: AudiencePosition) throws(StorageError) -> Bool {
        for cursor in excluding where try cursor.contains(position) { return true }
        return false
    }
}
