import MartletCore
import MartletModel

/// Stores and reads the attempts of pushes that had more than one attempt.
struct AttemptTable {
    private let session: ShardSession

    init(_ session: ShardSession) {
        self.session = session
    }

    func insert(_ attempts: [Attempt], of delivery: Delivery.ID) {
        // PostgreSQL refuses a statement that writes one row twice. Of equal attempts the last is kept.
        let last = Dictionary(attempts.map { (Key($0), $0) }) { _, last in last }
        let attempts = last.values.sorted { ($0.member, $0.at, $0.number) < ($1.member, $1.at, $1.number) }
        guard !attempts.isEmpty else { return }
        session.run(
            """
            INSERT INTO attempts (shard, delivery, channel, registration, made_at, number, outcome, reason, origin, status,
                connection, fate, followed)
            SELECT $1, $2, a.channel, a.registration, a.made_at, a.number, a.outcome, a.reason, a.origin, a.status,
                a.connection, a.fate, a.followed
            FROM unnest($3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13) a (channel, registration, made_at, number, outcome,
                reason, origin, status, connection, fate, followed)
            ON CONFLICT (shard, delivery, channel, registration, made_at, number) DO UPDATE
                SET outcome = excluded.outcome, reason = excluded.reason, origin = excluded.origin,
                    status = excluded.status, connection = excluded.connection, fate = excluded.fate,
                    followed = excluded.followed
            """, delivery.rawValue, attempts.map(\.member.channel.rawValue), attempts.map(\.member.registration),
            attempts.map(\.at), attempts.map(\.number), attempts.map(\.outcome.rawValue),
            attempts.map { ByteText($0.reason) }, attempts.map { OptionalByteText($0.answer?.origin) },
            NumberList(attempts.map { $0.answer?.status }), NumberList(attempts.map { $0.answer?.connection }),
            attempts.map(\.fate.rawValue), NumberList(attempts.map { $0.followed.map { Int($0.rawValue) } }))
    }

    /// Returns the latest attempts of a member's push, from `PageRecords` and from rows, in the order in which they
    /// were made. If both have the same attempt, the row is newer and replaces the other.
    static func merged(_ recorded: [Attempt], _ rows: [Attempt]) -> [Attempt] {
        guard !recorded.isEmpty else { return rows }
        let keys = Set(rows.map { Key($0) })
        let all = recorded.filter { !keys.contains(Key($0)) } + rows
        return all.sorted { ($0.at, $0.number) < ($1.at, $1.number) }.suffix(MemberEvidence.attemptLimit)
    }

    /// Returns the latest attempts of each of the given members, as far as they are stored as rows. The attempts of one
    /// member are in the order in which they were made.
    func rows(of members: [AudienceMember], in delivery: Delivery.ID) throws(StorageError) -> [Attempt] {
        try session.all(
            """
            SELECT m.channel, m.registration, a.number, a.outcome, a.reason, a.origin, a.status, a.connection, a.made_at,
                a.fate, a.followed
            FROM unnest($3, $4) m (channel, registration) CROSS JOIN LATERAL (
                SELECT * FROM attempts l WHERE l.shard = $1 AND l.delivery = $2 AND l.channel = m.channel
                    AND l.registration = m.registration
                ORDER BY l.made_at DESC, l.number DESC LIMIT $5) a
            ORDER BY m.channel, m.registration, a.made_at, a.number
            """, delivery.rawValue, members.map(\.channel.rawValue), members.map(\.registration),
            MemberEvidence.attemptLimit
        ) { row in
            var columns = ColumnReader(row)
            return Attempt(
                member: columns.member(), number: Int(columns.integer()),
                outcome: OutcomeName(rawValue: columns.text()), reason: columns.text(), answer: columns.answer(),
                at: columns.timestamp(), fate: columns.fate(),
                followed: columns.optionalInteger().map(ChannelID.init(rawValue:)))
        }
    }

    /// The values that distinguish attempts.
    private struct Key: Hashable {
        var member: AudienceMember
        var at: Timestamp
        var number: Int

        init(_ attempt: Attempt) {
            member = attempt.member
            at = attempt.at
            number = attempt.number
        }
    }
}

/// A list of numbers and NULLs, as a parameter.
struct NumberList: DatabaseValue {
    let numbers: [Int?]

    init(_ numbers: [Int?]) {
        self.numbers = numbers
    }

    static let type = ParameterType.int8s

    func add(to parameters: inout Parameters) { parameters.add(numbers.map { $0.map { Int64($0) } }) }
}

extension ColumnReader {
    /// Reads the columns of the origin, the status and the connection; nil if there was no answer.
    mutating func answer() -> PushAnswer? {
        let origin = optionalText()
        let status = optionalInteger().map { Int($0) }
        let connection = optionalInteger().map { Int($0) }
        return origin.map { PushAnswer(origin: $0, status: status, connection: connection) }
    }

    mutating func fate() -> HandleFate { HandleFate(rawValue: text()) ?? .kept }
}
