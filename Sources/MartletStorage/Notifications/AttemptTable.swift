import MartletCore
import MartletModel

/// Stores attempts as rows, and reads the attempts of a member from rows and from `PageRecords`, on one connection.
/// Attempts are recorded only for pushes that had several attempts.
struct AttemptTable {
    private let connection: Connection

    init(_ connection: Connection) {
        self.connection = connection
    }

    func insert(_ attempts: [Attempt], of delivery: Delivery.ID) throws(StorageError) {
        for attempt in attempts {
            try connection.run(
                """
                INSERT OR REPLACE INTO attempts (delivery, channel, registration, made_at, number, outcome, reason,
                    origin, status, connection, fate, followed)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                """, delivery.rawValue, attempt.member.channel.rawValue, attempt.member.registration, attempt.at,
                attempt.number, attempt.outcome.rawValue, attempt.reason, attempt.answer?.origin,
                attempt.answer?.status, attempt.answer?.connection, attempt.fate.rawValue,
                attempt.followed?.rawValue)
        }
    }

    /// Returns the latest attempts of a member's push, at most `MemberEvidence.attemptLimit`, in the order in which
    /// they were made.
    func attempts(of member: AudienceMember, in delivery: Delivery.ID) throws(StorageError) -> [Attempt] {
        let rows = try rows(of: member, in: delivery)
        guard let records = try PageRecordTable(connection).records(about: member, in: delivery),
            records.hasAttempts(of: member)
        else { return rows }
        let keys = Set(rows.map { AttemptKey($0) })
        let all = records.attempts(of: member).filter { !keys.contains(AttemptKey($0)) } + rows
        return all.sorted { ($0.at, $0.number) < ($1.at, $1.number) }.suffix(MemberEvidence.attemptLimit)
    }

    private func rows(of member: AudienceMember, in delivery: Delivery.ID) throws(StorageError) -> [Attempt] {
        try connection.all(
            """
            SELECT number, outcome, reason, origin, status, connection, made_at, fate, followed FROM attempts
            WHERE delivery = ? AND channel = ? AND registration = ? ORDER BY made_at DESC, number DESC LIMIT ?
            """, delivery.rawValue, member.channel.rawValue, member.registration, MemberEvidence.attemptLimit
        ) { row in
            Attempt(
                member: member, number: Int(row.integer(0)), outcome: OutcomeName(rawValue: row.text(1)),
                reason: row.text(2), answer: PushAnswer(row, 3), at: row.timestamp(6), fate: HandleFate(row, 7),
                followed: row.optionalInteger(8).map(ChannelID.init(rawValue:)))
        }.reversed()
    }
}

/// The values that distinguish the attempts of one member.
private struct AttemptKey: Hashable {
    var at: Timestamp
    var number: Int

    init(_ attempt: Attempt) {
        at = attempt.at
        number = attempt.number
    }
}

extension PushAnswer {
    /// Reads the answer from a row; nil if the attempt had no answer.
    /// - Parameter column: The column of the origin. The columns of the status and of the connection follow it.
    init?(_ row: Statement, _ column: Int32) {
        guard let origin = row.optionalText(column) else { return nil }
        self.init(
            origin: origin, status: row.optionalInteger(column + 1).map { Int($0) },
            connection: row.optionalInteger(column + 2).map { Int($0) })
    }
}

extension HandleFate {
    init(_ row: Statement, _ column: Int32) {
        self = HandleFate(rawValue: row.text(column)) ?? .kept
    }
}
