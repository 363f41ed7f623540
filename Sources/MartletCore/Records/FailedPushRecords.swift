/// Reads what a store has recorded about the failed pushes of deliveries, on one connection. Refusals and attempts are
/// stored as rows, or many at a time as `PageRecords`. All results are in the order of the members.
public protocol FailedPushRecords {
    /// Returns the first `PageRecords` value whose last member comes after the given member, together with this last
    /// member; nil if there is none.
    func pageRecords(
        after member: AudienceMember, in delivery: Delivery.ID
    ) throws(StorageError) -> (last: AudienceMember, records: PageRecords)?

    /// Returns the refusals that are stored as rows, of members after the given member.
    func refusalRows(
        after member: AudienceMember, in delivery: Delivery.ID, limit: Int
    ) throws(StorageError) -> [RecordedRefusal]

    /// Counts the refusals in rows that tell by themselves that a push has failed: the push service answered, the
    /// device was removed before the retry, or the push was abandoned after an attempt that is counted in the row.
    func failedRowCount(in delivery: Delivery.ID) throws(StorageError) -> Int

    /// Returns the members after the given member whose pushes were abandoned, according to rows that count no attempt.
    func abandonedRows(
        after member: AudienceMember, in delivery: Delivery.ID, limit: Int
    ) throws(StorageError) -> [AudienceMember]

    /// Returns the members with attempts in rows, and the outcomes of these attempts.
    /// - Parameters:
    ///   - member: Only members after this member are returned.
    ///   - last: The last member that may be returned; nil for all.
    func triedRows(
        after member: AudienceMember, through last: AudienceMember?, in delivery: Delivery.ID, limit: Int
    ) throws(StorageError) -> [(member: AudienceMember, attempts: AttemptOutcomes)]

    /// Returns whether a delivery has any rows of a kind.
    func hasRows(_ kind: FailedPushRow, in delivery: Delivery.ID) throws(StorageError) -> Bool

    /// Returns whether a member has a row of a kind.
    func hasRow(
        _ kind: FailedPushRow, of member: AudienceMember, in delivery: Delivery.ID
    ) throws(StorageError) -> Bool
}

/// The kinds of rows about failed pushes. The raw values are the names of their tables.
public enum FailedPushRow: String, Sendable {
    case refusal = "refusals"
    case attempt = "attempts"
    case retry = "retries"
}

/// What the outcomes of all attempts of a member have in common.
public struct AttemptOutcomes: Sendable {
    var hasSuccess = false
    /// True if all attempts were superseded.
    var areSuperseded = true

    init() {}

    public init(hasSuccess: Bool, areSuperseded: Bool) {
        self.hasSuccess = hasSuccess
        self.areSuperseded = areSuperseded
    }

    mutating func add(_ outcome: OutcomeName) {
        if outcome == .success { hasSuccess = true }
        if outcome != .superseded { areSuperseded = false }
    }
}
