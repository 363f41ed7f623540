import MartletCore

/// Keeps a database to one node.
///
/// Every connection of a node shares a lock of the database, and a node that starts needs this lock alone: so it starts
/// when the last connection of the node before is gone, and with it all that this node had under way. It then counts up
/// the number of starts. A connection that is made later compares the number, so a node that was cut off and comes back
/// learns that another has taken its place.
struct NodeFence: Sendable {
    /// The key of the advisory lock.
    let key: Int64
    /// The number of the node's start.
    let number: Int64

    /// Shares the lock on a new connection.
    /// - Throws: `.replaced` if another node has started since.
    func join(_ connection: Connection, _ patience: Connection.Patience) throws(DatabaseFailure) {
        var batch = Batch(Self.share) { $0.add(key) }
        batch.add(Self.current)
        let rows = try connection.run(batch, patience)[1]
        guard rows.count == 1, rows[0].integer(0) == number else { throw .replaced }
    }

    /// Takes the lock alone, for a node that starts.
    /// - Parameter wait: How long to wait for connections of another node to end. Those of a process that was killed
    ///   are gone within milliseconds; those of a machine that is gone within the keep-alive time of TCP.
    /// - Throws: `.replaced` if another node serves.
    static func take(
        _ key: Int64, _ wait: Duration, _ connection: Connection, _ patience: Connection.Patience
    ) throws(DatabaseFailure) {
        let deadline = ContinuousClock.now + wait
        while try connection.run(Batch(attempt) { $0.add(key) }, patience)[0][0].bool(0) == false {
            guard .now < deadline else { throw .replaced }
            try connection.run(Batch(pause), patience)
        }
    }

    /// Counts up the number of starts.
    static func begin(
        _ key: Int64, _ connection: Connection, _ patience: Connection.Patience
    ) throws(DatabaseFailure) -> NodeFence {
        let rows = try connection.run(Batch(next), patience)[0]
        guard rows.count == 1 else { throw .corrupt("The row of the namespace is missing; restore a backup.") }
        return NodeFence(key: key, number: rows[0].integer(0))
    }

    static func key(of schema: String) -> Int64 {
        "\(schema)\u{0}node".utf8.reduce(Int64(0x6D61_7274)) { $0 &* 31 &+ Int64($1) }
    }

    static let replaced = StorageError(
        .locked,
        "Another node serves this database, and one at a time can. Stop it first. If its machine has just failed, try "
            + "again in half a minute: until then PostgreSQL may take it for alive.")

    private static let share = Statement.rare([.int8], "SELECT pg_advisory_lock_shared($1)")
    private static let attempt = Statement.rare([.int8], "SELECT pg_try_advisory_lock($1)")
    private static let pause = Statement.rare([], "SELECT pg_sleep(0.1)")
    private static let current = Statement.rare([], "SELECT node FROM namespace")
    private static let next = Statement.rare([], "UPDATE namespace SET node = node + 1 RETURNING node")
}
