import MartletCore

/// The members of one set that are not members of another set.
final class DifferenceCursor: AudienceCursor {
    private let base: AudienceCursor
    private let excluded: AudienceCursor
    /// The position that the last `probe` of `excluded` returned. `excluded` has no member between the probed position
    /// and this one, but this position itself may be a member.
    private var nextExcluded = AudiencePosition.start

    init(_ base: AudienceCursor, without excluded: AudienceCursor) {
        self.base = base
        self.excluded = excluded
    }

    override func seek(_ position: AudiencePosition) throws(StorageError) -> AudiencePosition {
        var candidate = try base.seek(position)
        while candidate != .end, try isExcluded(candidate) { candidate = try base.seek(candidate.next) }
        return candidate
    }

    override func probe(_ position: AudiencePosition) throws(StorageError) -> AudiencePosition {
        let next = try base.probe(position)
        guard next == position else { return next }
        return try isExcluded(position) ? position.next : position
    }

    @inline(__always)
    private func isExcluded(_ position: AudiencePosition) throws(StorageError) -> Bool {
        if nextExcluded > position { return false }
        nextExcluded = try excluded.probe(position)
        return nextExcluded == position
    }
}
