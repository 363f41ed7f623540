import MartletCore
import MartletModel

/// Reads the records of failed pushes on one connection.
struct FailedPushTable: FailedPushRecords {
    private let connection: Connection

    init(_ connection: Connection) {
        self.connection = connection
    }

    func pageRecords(
        after member: AudienceMember, in delivery: Delivery.ID
    ) throws(StorageError) -> (last: AudienceMember, records: PageRecords)? {
        try PageRecordTable(connection).records(after: member, in: delivery)
    }

    func refusalRows(
        after member: AudienceMember, in delivery: Delivery.ID, limit: Int
    ) throws(StorageError) -> [RecordedRefusal] {
        try RefusalTable(connection).rows(of: delivery, after: member, limit: limit)
    }

    func failedRowCount(in delivery: Delivery.ID) throws(StorageError) -> Int {
        try connection.first(
            """
            SELECT count(*) FROM refusals WHERE delivery = ?1
                AND (origin IS NOT NULL OR handle IS NULL OR outcome = ?2 AND attempts > 0)
            """, delivery.rawValue, OutcomeName.abandoned.rawValue
        ) { Int($0.integer(0)) } ?? 0
    }

    func abandonedRows(
        after member: AudienceMember, in delivery: Delivery.ID, limit: Int
    ) throws(StorageError) -> [AudienceMember] {
        try connection.all(
            """
            SELECT channel, registration FROM refusals
            WHERE delivery = ? AND (channel, registration) > (?, ?) AND origin IS NULL AND handle IS NOT NULL
                AND outcome = ? AND attempts <= 0
            ORDER BY channel, registration LIMIT ?
            """, delivery.rawValue, member.channel.rawValue, member.registration, OutcomeName.abandoned.rawValue, limit,
            read: Self.member)
    }

    func triedRows(
        after member: AudienceMember, through last: AudienceMember?, in delivery: Delivery.ID, limit: Int
    ) throws(StorageError) -> [(member: AudienceMember, attempts: AttemptOutcomes)] {
        let last = last ?? .end
        return try connection.all(
            """
            SELECT channel, registration, max(outcome = ?), min(outcome = ?) FROM attempts
            WHERE delivery = ? AND (channel, registration) > (?, ?) AND (channel, registration) <= (?, ?)
            GROUP BY channel, registration ORDER BY channel, registration LIMIT ?
            """, OutcomeName.success.rawValue, OutcomeName.superseded.rawValue, delivery.rawValue,
            member.channel.rawValue, member.registration, last.channel.rawValue, last.registration, limit
        ) { row in (Self.member(row), AttemptOutcomes(hasSuccess: row.bool(2), areSuperseded: row.bool(3))) }
    }

    func hasRows(_ kind: FailedPushRow, in delivery: Delivery.ID) throws(StorageError) -> Bool {
        try connection.first("SELECT 1 FROM \(kind.rawValue) WHERE delivery = ? LIMIT 1", delivery.rawValue) { _ in true
        }
            ?? false
    }

    func hasRow(
        _ kind: FailedPushRow, of member: AudienceMember, in delivery: Delivery.ID
    ) throws(StorageError) -> Bool {
        try connection.first(
            "SELECT 1 FROM \(kind.rawValue) WHERE delivery = ? AND channel = ? AND registration = ? LIMIT 1",
            delivery.rawValue, member.channel.rawValue, member.registration
        ) { _ in true } ?? false
    }

    private static func member(_ row: Statement) -> AudienceMember {
        AudienceMember(channel: ChannelID(rawValue: row.integer(0)), registration: row.integer(1))
    }
}
