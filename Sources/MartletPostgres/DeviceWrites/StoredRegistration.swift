import MartletCore
import MartletModel

/// A registration as it is stored in a row, with numbers that stand for its tags, template and push variables.
struct StoredRegistration: Equatable, Sendable {
    var sequence: Int64
    var scope: Scope
    var channel: Int64
    var id: String
    var handle: String
    /// The tags in the order in which they were given.
    var tags: [Int64]
    /// The tags as they were spelled, separated by commas; nil if all of them are spelled in lower case.
    var spelledTags: String?
    var version: Int64
    var createdAt: Timestamp
    var updatedAt: Timestamp
    var expiresAt: Timestamp?
    var template: Int64?
    var variables: Int64?
    var secondaryTile: String?
    var row: InstallationReference?

    /// The installation to which a registration belongs, and the slot that identifies the registration there.
    struct InstallationReference: Equatable, Sendable {
        /// The sequence number of the installation.
        var installation: Int64
        var id: String
        var slot: String
    }

    func isExpired(at now: Timestamp) -> Bool { expiresAt.map { $0 <= now } ?? false }

    /// Returns true if this state of a registration differs from `other` in the sends that it gets, in their channel,
    /// or in their content. A new expiry does not count, because an expired registration is never updated.
    func isSentOtherwise(than other: StoredRegistration) -> Bool {
        if scope != other.scope || channel != other.channel || template != other.template
            || variables != other.variables
        {
            return true
        }
        return tags != other.tags && Set(tags) != Set(other.tags)
    }

    /// Returns true if a pack would have this state of a registration in another place, or with another content, than
    /// `other`.
    func isPackedOtherwise(than other: StoredRegistration) -> Bool {
        scope != other.scope || channel != other.channel || handle != other.handle || tags != other.tags
            || template != other.template || variables != other.variables || expiresAt != other.expiresAt
    }

    /// Returns true if only the version and the time of the write differ. Such a write touches no index.
    func isRepetition(of other: StoredRegistration) -> Bool {
        var same = self
        same.version = other.version
        same.updatedAt = other.updatedAt
        return same == other
    }
}

extension StoredRegistration {
    /// The columns of a registration `r` and of its installation `i`, in the order in which rows are read.
    static let columns = """
        r.sequence, r.scope, r.channel, r.id, r.handle, r.tags, r.spelled_tags, r.version, r.created_at, r.updated_at,
        r.expires_at, r.template, r.variables, r.secondary_tile, r.installation, i.id, r.slot
        """

    init(_ row: Row) {
        sequence = row.integer(0)
        scope = Scope(number: row.integer32(1))
        channel = row.integer(2)
        id = StoredForm.id(row.bytes(3))
        handle = row.withBytes(4) { StoredForm.handle($0) }
        tags = row.integers(5)
        spelledTags = row.optionalText(6)
        version = row.integer(7)
        createdAt = row.timestamp(8)
        updatedAt = row.timestamp(9)
        expiresAt = row.optionalTimestamp(10)
        template = row.optionalInteger(11)
        variables = row.optionalInteger(12)
        secondaryTile = row.optionalText(13)
        if let installation = row.optionalInteger(14), let slot = row.optionalText(16) {
            self.row = InstallationReference(
                installation: installation, id: row.optionalText(15) ?? "", slot: slot)
        }
    }
}
