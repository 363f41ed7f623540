import MartletCore

/// Writes to one shard that are done in one transaction: what to read, what follows from it, and what to write.
///
/// It is a value, so that its rules are tested without a database. A group may be decided twice, when its transaction
/// was lost, or when what it had read was changed before its writes.
protocol ShardGroup: Sendable {
    associatedtype Write: Sendable
    associatedtype Numbers: ShardNumbers

    init(_ writes: [Write])

    /// How a transaction of this kind keeps others of its shard apart.
    static var lockOrder: LockOrder { get }

    /// The statements whose rows `decide` needs.
    func reading(in shard: Shard) -> Batch

    /// Decides what is written.
    /// - Parameters:
    ///   - rows: The rows of the statements of `reading`.
    ///   - numbers: The numbers of the shard; nil if the shard does not exist, or exists no more.
    ///   - session: The transaction, for a group that locks before it reads and has more to read.
    /// - Returns: What is to be written besides what waits in the session; empty if there is nothing.
    mutating func decide(
        _ rows: [Rows], _ numbers: inout Numbers?, in session: ShardSession
    ) throws(StorageError) -> Batch

    /// Called when all is stored.
    func succeed()

    func fail(_ error: StorageError)
}

/// When a transaction locks the numbers of its shard.
enum LockOrder: Sendable {
    /// Before it reads, so that what was read stands. The lock is held for two round trips.
    case beforeReads
    /// With its writes, in the same round trip; it then checks that what it has read still stands.
    case beforeWrites
}

/// The numbers that the transactions of a shard count up. Whoever has the lock of their row is the only one to write
/// what they number.
protocol ShardNumbers: Equatable, Sendable {
    /// Locks the row. The parameter is the shard.
    static var locking: Statement { get }
    /// Reads the row without a lock.
    static var reading: Statement { get }
    /// Locks the row and counts the numbers up. Fails with `SQLState.stale` if the row is gone, or if a number that is
    /// counted up is not the one that was read.
    static var claiming: Statement { get }

    init(_ row: Row)

    /// Adds the parameters of `claiming` behind the shard.
    /// - Parameter read: The numbers that were read.
    func addClaim(since read: Self, to parameters: inout Parameters)
}

/// The number of a part of the data that is moved and locked as a whole. A hub is one; a slice of a hub may become one.
struct Shard: Hashable, Sendable {
    let number: Int32

    init(number: Int32) {
        self.number = number
    }

    init(_ hub: Hub.ID) {
        // Ids come from one sequence, which starts at 1: two billion hubs do not happen.
        number = Int32(truncatingIfNeeded: hub.rawValue)
    }
}

/// The last numbers of the devices of a shard.
struct Ordinals: ShardNumbers {
    var channels: Int64 = 0
    var registrations: Int64 = 0
    var changes: Int64 = 0
    var installations: Int64 = 0
    var tags: Int64 = 0
    var contents: Int64 = 0

    static let locking = Statement.hot(
        [.int4],
        """
        SELECT channels, registrations, changes, installations, tags, contents FROM ordinals
        WHERE shard = $1 FOR UPDATE
        """)

    static let reading = Statement.hot(
        [.int4],
        """
        SELECT channels, registrations, changes, installations, tags, contents FROM ordinals WHERE shard = $1
        """)

    /// The numbers of changes are given in the statement that writes them, so another transaction may have drawn some.
    static let claiming = Statement.hot(
        [.int4, .int8, .int8, .int8, .int8, .int8, .int8, .int8, .int8, .int8, .int8, .int8],
        """
        WITH claimed AS (
            UPDATE ordinals SET channels = channels + $2, registrations = registrations + $3,
                installations = installations + $4, tags = tags + $5, contents = contents + $6, changes = changes + $7
            WHERE shard = $1 AND ($2 = 0 OR channels = $8) AND ($3 = 0 OR registrations = $9)
                AND ($4 = 0 OR installations = $10) AND ($5 = 0 OR tags = $11) AND ($6 = 0 OR contents = $12)
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
    }

    func addClaim(since read: Ordinals, to parameters: inout Parameters) {
        let kinds: [KeyPath<Ordinals, Int64>] = [
            \.channels, \.registrations, \.installations, \.tags, \.contents,
        ]
        for kind in kinds { parameters.add(self[keyPath: kind] - read[keyPath: kind]) }
        parameters.add(changes - read.changes)
        for kind in kinds { parameters.add(read[keyPath: kind]) }
    }
}
