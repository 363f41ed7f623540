import MartletCore
import MartletModel

/// Stores and reads the refusals and attempts of pages, on one connection. Each row contains one `PageRecords` value.
///
/// Each `PageRecords` covers the members after the last member of the previous one, up to its own last member.
struct PageRecordTable {
    private let connection: Connection

    init(_ connection: Connection) {
        self.connection = connection
    }

    // MARK: Reading

    /// Returns the `PageRecords` value whose range of members contains a member; nil if there is none. The value may
    /// have no record of the member.
    func records(about member: AudienceMember, in delivery: Delivery.ID) throws(StorageError) -> PageRecords? {
        try records(from: member, in: delivery, ">=")?.records
    }

    /// Returns the first `PageRecords` value whose last member comes after the given member, together with this last
    /// member; nil if there is none.
    func records(
        after member: AudienceMember, in delivery: Delivery.ID
    ) throws(StorageError) -> (last: AudienceMember, records: PageRecords)? {
        try records(from: member, in: delivery, ">")
    }

    private func records(
        from member: AudienceMember, in delivery: Delivery.ID, _ relation: String
    ) throws(StorageError) -> (last: AudienceMember, records: PageRecords)? {
        try connection.first(
            """
            SELECT last_channel, last_registration, records FROM page_records
            WHERE delivery = ? AND (last_channel, last_registration) \(relation) (?, ?)
            ORDER BY last_channel, last_registration LIMIT 1
            """, delivery.rawValue, member.channel.rawValue, member.registration
        ) { row throws(StorageError) in
            guard let records = PageRecords(row.bytes(2)) else {
                throw StorageError(.corrupt, "The refusals of a page cannot be read; restore a backup.")
            }
            return (
                AudienceMember(channel: ChannelID(rawValue: row.integer(0)), registration: row.integer(1)), records
            )
        }
    }

    /// Returns whether any `PageRecords` of a delivery are stored.
    func hasRecords(of delivery: Delivery.ID) throws(StorageError) -> Bool {
        try connection.first("SELECT 1 FROM page_records WHERE delivery = ? LIMIT 1", delivery.rawValue) { _ in true }
            ?? false
    }

    /// Returns those of the given members that have a refusal in `PageRecords`.
    func refused(
        _ members: some Sequence<AudienceMember>, in delivery: Delivery.ID
    ) throws(StorageError) -> Set<AudienceMember> {
        var refused: Set<AudienceMember> = []
        guard try hasRecords(of: delivery) else { return refused }
        var current: (last: AudienceMember, records: PageRecords)?
        for member in members.sorted() {
            if current.map({ $0.last < member }) ?? true {
                guard let next = try records(from: member, in: delivery, ">=") else { break }
                current = next
            }
            if current?.records.refusal(of: member) != nil { refused.insert(member) }
        }
        return refused
    }

    // MARK: Writing

    /// Stores the refusals and attempts of a page in rows, each with one `PageRecords` of a few hundred records.
    /// - Returns: False if each record must be stored as a row of its own: the step is not about a page, an attempt
    ///   reached a channel other than that of its member, or a `PageRecords` value about these or later members is
    ///   stored already.
    func insert(_ step: DeliveryStep) throws(StorageError) -> Bool {
        guard step.range != nil, step.attempts.allSatisfy({ $0.followed == nil }) else { return false }
        let refusals = Self.ordered(step.refusals) { $0.member < $1.member }
        let attempts = Self.ordered(step.attempts) {
            ($0.member, $0.at, $0.number) < ($1.member, $1.at, $1.number)
        }
        guard let first = Self.lower(refusals.first?.member, attempts.first?.member) else { return true }
        guard try !hasRecords(from: first, in: step.delivery) else { return false }
        let registrations = try RefusedRegistrations(connection)
        defer { registrations.giveBack() }
        var encoder = PageRecordsEncoder()
        var (restOfRefusals, restOfAttempts) = (refusals[...], attempts[...])
        var next: AudienceMember? = first
        while let member = next {
            while let attempt = restOfAttempts.first, attempt.member == member {
                encoder.append(attempt)
                restOfAttempts.removeFirst()
            }
            if let refusal = restOfRefusals.first, refusal.member == member {
                let (id, installation) = try registrations.ids(of: refusal)
                encoder.append(refusal, id, installation: installation)
                restOfRefusals.removeFirst()
            }
            next = Self.lower(restOfRefusals.first?.member, restOfAttempts.first?.member)
            // All records of a member are in the same `PageRecords`, so a `PageRecords` ends only between two members.
            if encoder.isFull || next == nil { try insert(&encoder, through: member, of: step.delivery) }
        }
        return true
    }

    private static func lower(_ one: AudienceMember?, _ other: AudienceMember?) -> AudienceMember? {
        guard let one, let other else { return one ?? other }
        return min(one, other)
    }

    private func hasRecords(from member: AudienceMember, in delivery: Delivery.ID) throws(StorageError) -> Bool {
        try connection.first(
            """
            SELECT 1 FROM page_records WHERE delivery = ? AND (last_channel, last_registration) >= (?, ?) LIMIT 1
            """, delivery.rawValue, member.channel.rawValue, member.registration
        ) { _ in true } ?? false
    }

    private func insert(
        _ encoder: inout PageRecordsEncoder, through last: AudienceMember, of delivery: Delivery.ID
    ) throws(StorageError) {
        try connection.run(
            """
            INSERT INTO page_records (delivery, last_channel, last_registration, refusals, attempts, records)
            VALUES (?, ?, ?, ?, ?, ?)
            """, delivery.rawValue, last.channel.rawValue, last.registration, encoder.refusalCount,
            encoder.attemptCount, encoder.encoded())
        encoder = PageRecordsEncoder()
    }

    /// Sorts records. Of records with equal keys only the last is kept, because each replaces the one before.
    private static func ordered<Record>(_ records: [Record], _ isBefore: (Record, Record) -> Bool) -> [Record] {
        if zip(records, records.dropFirst()).allSatisfy({ isBefore($0, $1) }) { return records }
        let indices = records.indices.sorted { left, right in
            if isBefore(records[left], records[right]) { return true }
            return !isBefore(records[right], records[left]) && left < right
        }
        var ordered: [Record] = []
        ordered.reserveCapacity(records.count)
        for index in indices {
            if let last = ordered.last, !isBefore(last, records[index]) { ordered.removeLast() }
            ordered.append(records[index])
        }
        return ordered
    }
}

/// Looks up the registrations that refusals are about, and their ids. A native send goes to a channel, so a refusal of
/// a native send is about the channel's oldest registration. Statements are prepared once for many refusals.
final class RefusedRegistrations {
    private var statements: BorrowedStatements
    private let ofChannel: Statement
    private let ofSequence: Statement
    private let installation: Statement

    init(_ connection: Connection) throws(StorageError) {
        statements = BorrowedStatements(connection)
        ofChannel = try statements.take(
            """
            SELECT id, installation FROM registrations WHERE channel = ? AND template IS NULL ORDER BY sequence LIMIT 1
            """)
        ofSequence = try statements.take(
            "SELECT id, installation FROM registrations WHERE sequence = ? AND channel = ?")
        installation = try statements.take("SELECT id FROM installations WHERE sequence = ?")
    }

    func giveBack() {
        statements.giveBack()
    }

    func ids(
        of refusal: Refusal
    ) throws(StorageError) -> (registration: PageRecordsEncoder.Registration?, installation: String?) {
        let registration = refusal.registration ?? refusal.member
        let statement: Statement
        if registration.registration > 0 {
            statement = ofSequence
            try statement.bind(registration.registration, at: 1)
            try statement.bind(registration.channel.rawValue, at: 2)
        } else {
            statement = ofChannel
            try statement.bind(registration.channel.rawValue, at: 1)
        }
        defer { statement.reset() }
        guard try statement.step() else { return (nil, nil) }
        let id: PageRecordsEncoder.Registration
        if statement.isBlob(0), let numbers = statement.withBytes(0, { RegistrationIDNumbers(bytes: $0) }) {
            id = .numbers(numbers)
        } else {
            id = .text(StoredID(statement, 0).text)
        }
        guard let sequence = statement.optionalInteger(1) else { return (id, nil) }
        try installation.bind(sequence, at: 1)
        defer { installation.reset() }
        return (id, try installation.step() ? installation.text(0) : nil)
    }
}
