import MartletCore

/// A sorted set of registrations that can be walked forwards. Belongs to one query on one connection, which either seeks or
/// probes it; positions never go backwards.
///
/// A class to be subclassed and no protocol: a page of thousands makes several calls per row.
class AudienceCursor {
    /// The first member at or after a position; `.end` where there is none.
    func seek(_ position: AudiencePosition) throws(StorageError) -> AudiencePosition {
        .end
    }

    /// Looks whether a position is a member, and no further than that takes.
    /// - Returns: The position where it is one; otherwise one after it, before which there is no other member.
    func probe(_ position: AudiencePosition) throws(StorageError) -> AudiencePosition {
        try seek(position)
    }
}
