import MartletCore

/// Writes to one shard that are done in one transaction. A group says what to read, and decides from the rows what to
/// write.
///
/// A group is a value, so that its rules can be tested without a database. The same writes may be decided twice: if
/// their transaction was lost, or if rows that it had read were changed before its writes.
protocol ShardGroup: Sendable {
    associatedtype Write: Sendable
    associatedtype Numbers: ShardNumbers

    init(_ writes: [Write])

    /// When a transaction of this kind locks its shard.
    static var lockOrder: LockOrder { get }

    /// The statements whose rows `decide` needs.
    func reading(in shard: Shard) -> Batch

    /// Decides what is written.
    /// - Parameters:
    ///   - rows: The rows of the statements of `reading`.
    ///   - numbers: The numbers of the shard; nil if the shard does not exist or no longer exists.
    ///   - session: Runs further statements in the transaction, for a group that locks before it reads.
    /// - Returns: The statements that write, besides those that wait in the session; empty if there are none.
    mutating func decide(
        _ rows: [Rows], _ numbers: inout Numbers?, in session: ShardSession
    ) throws(StorageError) -> Batch

    /// Called when the transaction was committed.
    func succeed()

    func fail(_ error: StorageError)
}

/// When a transaction locks the numbers of its shard.
enum LockOrder: Sendable {
    /// The transaction locks before its reads, so that the rows that it has read cannot change. The lock is held for
    /// two round trips.
    case beforeReads
    /// The transaction locks together with its writes, in the same round trip. After it has locked, it checks that the
    /// rows that it has read are unchanged.
    case beforeWrites
}

/// The numbers that were last given to rows of a shard. They are stored in one row for each shard. Only a transaction
/// that has locked this row may add rows with new numbers.
///
/// While a shard moves to another database, or has moved, its row has the token of the move (`moving`). Then each of
/// these statements fails with `SQLState.stale`, so nothing is written.
protocol ShardNumbers: Equatable, Sendable {
    /// Locks the row. The parameter is the shard.
    static var locking: Statement { get }
    /// Reads the row without a lock.
    static var reading: Statement { get }
    /// Locks the row and increases the numbers. Fails with `SQLState.stale` if the row is gone, or if a number that is
    /// to be increased has changed since it was read.
    static var claiming: Statement { get }

    init(_ row: Row)

    /// Adds the parameters of `claiming`, except the shard, which comes first.
    /// - Parameter read: The numbers that were read before this transaction gave out new ones.
    func addClaim(since read: Self, to parameters: inout Parameters)
}

/// A part of the data that is locked as a whole, and could be moved to another database as a whole. Each hub is one
/// shard; later a part of a hub may be one.
struct Shard: Hashable, Sendable {
    let number: Int32

    init(number: Int32) {
        self.number = number
    }

    init(_ hub: Hub.ID) {
        // Hub ids come from one sequence, which starts at 1, and a database makes at most a million hubs. So the id
        // fits.
        number = Int32(truncatingIfNeeded: hub.rawValue)
    }
}

/// The numbers that were last given to the devices of a shard: to channels, registrations and others.
struct Ordinals: ShardNumbers {
    var channels: Int64 = 0
    var registrations: Int64 = 0
    var changes: Int64 = 0
    var installations: Int64 = 0
    var tags: Int64 = 0
    var contents: Int64 = 0
    /// Whether the shard may have packs. If not, changes of registrations need no marks (`PackStatements.mark`).
    var hasPacks = false

    static let locking = Statement.hot(
        [.int4],
        """
        SELECT channels, registrations, changes, installations, tags, contents, has_packs, 1 / (moving = 0)::int4
        FROM ordinals WHERE shard = $1 FOR UPDATE
        """)

    static let reading = Statement.hot(
        [.int4],
        """
        SELECT channels, registrations, changes, installations, tags, contents, has_packs, 1 / (moving = 0)::int4
        FROM ordinals WHERE shard = $1
        """)

    /// This statement does not check `changes`. The numbers of changes are computed from this row in the statement that
    /// writes the changes, so it does not matter if another transaction has increased `changes` since it was read.
    ///
    /// It fails as well if the shard has got its first pack since the transaction has read that there is none, because
    /// the transaction leaves no marks.
    static let claiming = Statement.hot(
        [.int4, .int8, .int8, .int8, .int8, .int8, .int8, .int8, .int8, .int8, .int8, .int8, .bool],
        """
        WITH claimed AS (
            UPDATE ordinals SET channels = channels + $2, registrations = registrations + $3,
                installations = installations + $4, tags = tags + $5, contents = contents + $6, changes = changes + $7
            WHERE shard = $1 AND moving = 0 AND ($2 = 0 OR channels = $8) AND ($3 = 0 OR registrations = $9)
                AND ($4 = 0 OR installations = $10) AND ($5 = 0 OR tags = $11) AND ($6 = 0 OR contents = $12)
                AND ($13 OR NOT has_packs)
            RETURNING 1
        )
        SELECT 1 / count(*)::int4 FROM claimed
        """)

    init() {}

    init(_ row: Row) {
        channels = row.integer(0)
        registrations = row.integer(1)
        changes = row.integer(2)
        installations = row.integer(3)
        tags = row.integer(4)
        contents = row.integer(5)
        hasPacks = row.bool(6)
    }

    func addClaim(since read: Ordinals, to parameters: inout Parameters) {
        let kinds: [KeyPath<Ordinals, Int64>] = [
            \.channels, \.registrations, \.installations, \.tags, \.contents,
        ]
        for kind in kinds { parameters.add(self[keyPath: kind] - read[keyPath: kind]) }
        parameters.add(changes - read.changes)
        for kind in kinds { parameters.add(read[keyPath: kind]) }
        parameters.add(read.hasPacks)
    }
}
