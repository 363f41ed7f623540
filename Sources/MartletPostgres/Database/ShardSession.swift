import MartletCore
import MartletModel

/// Runs the statements of one transaction on a shard, or of several reads that belong together, on the thread of the
/// connection.
///
/// Each statement gets the shard as its first parameter; callers do not pass it. A statement whose result is not needed
/// waits until the next statement with a result is sent, or until the COMMIT.
final class ShardSession {
    let shard: Shard
    /// The numbers of sends, in a transaction that has locked them; nil if the shard does not exist or no longer
    /// exists.
    var numbers: SendOrdinals?
    private let connection: Connection
    private let patience: Connection.Patience
    private var waiting = Batch()
    /// The failure of the last statement that failed; nil if none has failed.
    private(set) var failure: DatabaseFailure?
    /// True if at least one statement was sent.
    private(set) var hasSent = false

    init(_ shard: Shard, _ connection: Connection, _ patience: Connection.Patience) {
        self.shard = shard
        self.connection = connection
        self.patience = patience
    }

    /// Returns the statements that have not been sent yet, and removes them from the session.
    func takeWaiting() -> Batch {
        defer { waiting = Batch() }
        return waiting
    }

    func add(_ statement: Statement) {
        waiting.add(statement)
    }

    /// Runs a statement whose result is not needed.
    func run(_ sql: String, _ values: any DatabaseValue...) {
        add(sql, values)
    }

    /// Runs a statement that writes.
    /// - Returns: The number of rows that it has written.
    func changes(_ sql: String, _ values: any DatabaseValue...) throws(StorageError) -> Int {
        add(sql, values)
        return try send().changes
    }

    /// Reads the first row of a statement.
    func first<Value>(
        _ sql: String, _ values: any DatabaseValue..., read: (Row) throws(StorageError) -> Value
    ) throws(StorageError) -> Value? {
        add(sql, values)
        let rows = try send()
        return rows.count > 0 ? try read(rows[0]) : nil
    }

    func all<Value>(
        _ sql: String, _ values: any DatabaseValue..., read: (Row) throws(StorageError) -> Value
    ) throws(StorageError) -> [Value] {
        add(sql, values)
        let rows = try send()
        var found: [Value] = []
        found.reserveCapacity(rows.count)
        for index in 0..<rows.count { found.append(try read(rows[index])) }
        return found
    }

    /// Returns true if a statement returns at least one row.
    func exists(_ sql: String, _ values: any DatabaseValue...) throws(StorageError) -> Bool {
        add(sql, values)
        return try send().count > 0
    }

    private func add(_ sql: String, _ values: [any DatabaseValue]) {
        let statement = Statement(sql: sql, types: [.int4] + values.map { Swift.type(of: $0).type })
        waiting.add(statement) { parameters in
            parameters.add(shard.number)
            for value in values { value.add(to: &parameters) }
        }
    }

    private func send() throws(StorageError) -> Rows {
        hasSent = true
        do throws(DatabaseFailure) {
            let rows = try connection.run(takeWaiting(), patience)
            guard let last = rows.last else { throw .corrupt("The database did not answer a statement.") }
            return last
        } catch {
            failure = error
            throw error.storageError
        }
    }

    // MARK: Numbers

    func nextNotification() throws(StorageError) -> Int64 { try next(\.notifications) }
    func nextDelivery() throws(StorageError) -> Int64 { try next(\.deliveries) }

    private func next(_ kind: WritableKeyPath<SendOrdinals, Int64>) throws(StorageError) -> Int64 {
        guard var numbers else { throw Self.noShard }
        numbers[keyPath: kind] += 1
        self.numbers = numbers
        return shard.compose(numbers[keyPath: kind])
    }

    static let noShard = StorageError(.unavailable, "The hub has been deleted.")
}

extension Shard {
    private static let numberBits = 43
    /// The first shard number that is too high for a composed number.
    static let limit: Int32 = 1 << 20

    /// The bits of a composed number that contain the number within the shard.
    static let numberMask: Int64 = (1 << Int64(numberBits)) - 1

    /// Returns the number of a notification or delivery for the storage ports, which do not know shards. The upper bits
    /// are the number of the shard. The lower 43 bits are the number within the shard; at 25,000 sends a second they
    /// last for eleven years.
    func compose(_ number: Int64) -> Int64 { Int64(self.number) << Self.numberBits | number }

    /// The shard of a composed number.
    init(ofComposed number: Int64) {
        self.init(number: Int32(truncatingIfNeeded: number >> Self.numberBits))
    }

    /// The hub of the shard. For now, each shard is one hub.
    var hub: Hub.ID { Hub.ID(rawValue: Int64(number)) }
}

/// The numbers that were last given to the notifications and deliveries of a shard, and the owner of the shard.
/// Transactions that write sends lock this row, so that only one of them runs at a time. Transactions that write
/// devices lock the row of `Ordinals` instead.
struct SendOrdinals: ShardNumbers {
    var notifications: Int64 = 0
    var deliveries: Int64 = 0
    /// The incarnation of the node that owns the shard; 0 if there is none.
    var node: Int64 = 0
    /// The number of changes that nodes other than the owner have made.
    var changes: Int64 = 0

    static let locking = Statement.hot(
        [.int4],
        """
        SELECT notifications, deliveries, node, changes, 1 / (moving = 0)::int4 FROM send_ordinals
        WHERE shard = $1 FOR UPDATE
        """)
    static let reading = Statement.hot(
        [.int4],
        """
        SELECT notifications, deliveries, node, changes, 1 / (moving = 0)::int4 FROM send_ordinals WHERE shard = $1
        """)
    static let claiming = Statement.hot(
        [.int4, .int8, .int8, .int8, .int8, .int8],
        """
        WITH claimed AS (
            UPDATE send_ordinals SET notifications = notifications + $2, deliveries = deliveries + $3,
                changes = changes + $6
            WHERE shard = $1 AND moving = 0 AND ($2 = 0 OR notifications = $4) AND ($3 = 0 OR deliveries = $5)
            RETURNING 1
        )
        SELECT 1 / count(*)::int4 FROM claimed
        """)

    init(_ row: Row) {
        notifications = row.integer(0)
        deliveries = row.integer(1)
        node = row.integer(2)
        changes = row.integer(3)
    }

    func addClaim(since read: SendOrdinals, to parameters: inout Parameters) {
        parameters.add(notifications - read.notifications)
        parameters.add(deliveries - read.deliveries)
        parameters.add(read.notifications)
        parameters.add(read.deliveries)
        parameters.add(changes - read.changes)
    }
}
