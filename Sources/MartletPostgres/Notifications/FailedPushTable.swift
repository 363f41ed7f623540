import MartletCore
import MartletModel

/// Reads the records of failed pushes in one session.
struct FailedPushTable: FailedPushRecords {
    private let session: ShardSession

    init(_ session: ShardSession) {
        self.session = session
    }

    func pageRecords(
        after member: AudienceMember, in delivery: Delivery.ID
    ) throws(StorageError) -> (last: AudienceMember, records: PageRecords)? {
        try PageRecordTable(session).records(after: member, in: delivery)
    }

    func refusalRows(
        after member: AudienceMember, in delivery: Delivery.ID, limit: Int
    ) throws(StorageError) -> [RecordedRefusal] {
        try RefusalTable(session).rows(of: delivery, after: member, limit: limit)
    }

    func failedRowCount(in delivery: Delivery.ID) throws(StorageError) -> Int {
        try session.first(
            """
            SELECT count(*) FROM refusals WHERE shard = $1 AND delivery = $2
                AND (origin IS NOT NULL OR handle IS NULL OR outcome = $3 AND attempts > 0)
            """, delivery.rawValue, OutcomeName.abandoned.rawValue
        ) { Int($0.integer(0)) } ?? 0
    }

    func abandonedRows(
        after member: AudienceMember, in delivery: Delivery.ID, limit: Int
    ) throws(StorageError) -> [AudienceMember] {
        try session.all(
            """
            SELECT channel, registration FROM refusals
            WHERE shard = $1 AND delivery = $2 AND (channel, registration) > ($3, $4) AND origin IS NULL
                AND handle IS NOT NULL AND outcome = $5 AND attempts <= 0
            ORDER BY channel, registration LIMIT $6
            """, delivery.rawValue, member.channel.rawValue, member.registration, OutcomeName.abandoned.rawValue, limit,
            read: Self.member)
    }

    func triedRows(
        after member: AudienceMember, through last: AudienceMember?, in delivery: Delivery.ID, limit: Int
    ) throws(StorageError) -> [(member: AudienceMember, attempts: AttemptOutcomes)] {
        let last = last ?? .end
        return try session.all(
            """
            SELECT channel, registration, bool_or(outcome = $2), bool_and(outcome = $3) FROM attempts
            WHERE shard = $1 AND delivery = $4 AND (channel, registration) > ($5, $6)
                AND (channel, registration) <= ($7, $8)
            GROUP BY channel, registration ORDER BY channel, registration LIMIT $9
            """, OutcomeName.success.rawValue, OutcomeName.superseded.rawValue, delivery.rawValue,
            member.channel.rawValue, member.registration, last.channel.rawValue, last.registration, limit
        ) { row in (Self.member(row), AttemptOutcomes(hasSuccess: row.bool(2), areSuperseded: row.bool(3))) }
    }

    func hasRows(_ kind: FailedPushRow, in delivery: Delivery.ID) throws(StorageError) -> Bool {
        try session.exists(
            "SELECT 1 FROM \(kind.rawValue) WHERE shard = $1 AND delivery = $2 LIMIT 1", delivery.rawValue)
    }

    func hasRow(
        _ kind: FailedPushRow, of member: AudienceMember, in delivery: Delivery.ID
    ) throws(StorageError) -> Bool {
        try session.exists(
            """
            SELECT 1 FROM \(kind.rawValue) WHERE shard = $1 AND delivery = $2 AND channel = $3 AND registration = $4
            LIMIT 1
            """, delivery.rawValue, member.channel.rawValue, member.registration)
    }

    private static func member(_ row: Row) -> AudienceMember {
        AudienceMember(channel: ChannelID(rawValue: row.integer(0)), registration: row.integer(1))
    }
}
