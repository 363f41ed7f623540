import MartletCore

/// A sorted set of registrations that can be walked forwards. Belongs to one query on one connection.
///
/// A class to be subclassed and no protocol: a page of thousands makes several calls per row.
class AudienceCursor {
    /// The first member at or behind a position; `.end` where there is none. Positions never go backwards.
    func seek(_ position: AudiencePosition) throws(StorageError) -> AudiencePosition {
        .end
    }

    /// Whether a position is a member. Positions never go backwards.
    func contains(_ position: AudiencePosition) throws(StorageError) -> Bool {
        try seek(position) == position
    }
}
