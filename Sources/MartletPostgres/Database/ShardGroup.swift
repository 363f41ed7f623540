import MartletCore

/// Writes to one shard that are done in one transaction: what to read, what follows from it, and what to write.
///
/// It is a value, so that its rules are tested without a database. A group may be decided twice, when its transaction
/// was lost.
protocol ShardGroup: Sendable {
    associatedtype Write: Sendable

    init(_ writes: [Write])

    /// The statements whose rows `decide` needs.
    func reading(in shard: Shard) -> Batch

    /// Decides what is written.
    /// - Parameters:
    ///   - rows: The rows of the statements of `reading`.
    ///   - ordinals: The numbers of the shard; nil if the shard does not exist, or exists no more.
    /// - Returns: What is to be written; empty if there is nothing.
    mutating func decide(_ rows: [Rows], _ ordinals: inout Ordinals?, in shard: Shard) throws(StorageError) -> Batch

    /// Called when all is stored.
    func succeed()

    func fail(_ error: StorageError)
}

/// The number of a part of the data that is moved and locked as a whole. A hub is one; a slice of a hub may become one.
struct Shard: Hashable, Sendable {
    let number: Int32

    init(_ hub: Hub.ID) {
        // Ids come from one sequence, which starts at 1: two billion hubs do not happen.
        number = Int32(truncatingIfNeeded: hub.rawValue)
    }
}

/// The last numbers of a shard, which its transactions count up.
struct Ordinals: Equatable, Sendable {
    var channels: Int64 = 0
    var registrations: Int64 = 0
    var changes: Int64 = 0
    var installations: Int64 = 0
    var tags: Int64 = 0
    var contents: Int64 = 0

    /// Locks the numbers of a shard, and with them all that may be written in it. One shard's transactions come one
    /// after another.
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

    static let updating = Statement.hot(
        [.int4, .int8, .int8, .int8, .int8, .int8, .int8],
        """
        UPDATE ordinals SET channels = $2, registrations = $3, changes = $4, installations = $5, tags = $6, contents = $7
        WHERE shard = $1
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

    func add(to parameters: inout Parameters) {
        for number in [channels, registrations, changes, installations, tags, contents] { parameters.add(number) }
    }
}
