import MartletCore

/// A cursor over a sorted set of registrations that moves forwards only. It belongs to one query on one connection. A
/// caller uses either `seek` or `probe` on a cursor, never both. The positions that the caller passes in successive
/// calls must not descend.
///
/// This is a base class instead of a protocol for speed: reading a page of thousands of members makes several calls for
/// each row.
class AudienceCursor {
    /// Returns the first member at or after a position; `.end` if there is none.
    func seek(_ position: AudiencePosition) throws(StorageError) -> AudiencePosition {
        .end
    }

    /// Checks whether a position is a member. If it is not, this call may stop before it finds the next member.
    /// - Returns: The position if it is a member; otherwise a later position, with no members in between.
    func probe(_ position: AudiencePosition) throws(StorageError) -> AudiencePosition {
        try seek(position)
    }
}
