public import MartletCore

/// A database on PostgreSQL whose data is moved. No node may serve the database, and no node can start while this
/// object exists.
public final class PostgresMoveSource: RetiringMoveSource {
    private let connection: BulkConnection
    private let reader: PostgresMoveReader
    private let schema: String
    private let address: DatabaseAddress

    /// Opens a database.
    /// - Parameters:
    ///   - sealer: Opens the secrets of the hubs. It has the keys of the database's nodes.
    ///   - schema: The name of the schema that contains the tables.
    /// - Throws: `StorageError` if a node runs, if the schema is not the schema of this version, or if the secrets were
    ///   sealed with another key.
    public init(
        _ address: DatabaseAddress, sealer: any Sealer, rules: MoveRules, schema: String = "martlet"
    ) throws(StorageError) {
        let (connection, state) = try MoveSession.open(address, schema)
        if let refusal = state.refusalToMove { throw refusal }
        guard state == .current else {
            throw StorageError(.unavailable, "There is nothing to move: \(address) has never been served.")
        }
        try MoveSession.attempt { () throws(DatabaseFailure) in
            try connection.run("BEGIN ISOLATION LEVEL REPEATABLE READ")
        }
        // The tables are locked first, because the next statement determines the point in time that all reads see.
        try MoveSession.lockTables(connection)
        try MoveSession.lock(connection, schema)
        try MoveSession.checkNodes(connection)
        try MoveSession.checkMark(connection, schema)
        try MoveSession.checkClusters(connection)
        try MoveSession.checkKey(
            connection, sealer,
            otherwise: "The secrets of the database were sealed with another secret key. Give the secret.key of its "
                + "nodes in --key-file, or in MARTLET_SECRET_KEY or MARTLET_SECRET_KEY_FILE.")
        self.connection = connection
        self.schema = schema
        self.address = address
        reader = try MoveSession.attempt { () throws(DatabaseFailure) in
            try PostgresMoveReader(connection, schema: schema, sealer: sealer, rules: rules)
        }
    }

    public func directory() throws(StorageError) -> MovedDirectory { try reader.directory() }
    public func numbers() throws(StorageError) -> MovedNumbers { try reader.numbers() }

    public func readRows(
        of table: MovedTable, isForComparison: Bool, _ each: RowReceiver
    ) throws(StorageError) {
        try reader.readRows(of: table, isForComparison: isForComparison, each)
    }

    public func readBlobs(_ each: (MovedBlob, PieceReader) throws(StorageError) -> Void) throws(StorageError) {
        try reader.readBlobs(each)
    }

    public func count(of table: MovedTable) throws(StorageError) -> Int64? { try reader.count(of: table) }

    public func checkLastStep() throws(StorageError) { try MoveSession.checkCommit(address, schema) }

    public func retire(to place: String) throws(StorageError) {
        do throws(DatabaseFailure) {
            try connection.run("UPDATE nodes SET is_dead = true WHERE NOT is_dead")
            try connection.run("UPDATE send_ordinals SET node = 0 WHERE node <> 0")
            try connection.run(MovedAway.store) { $0.add(place) }
            guard try MoveSession.commit(connection) else {
                throw DatabaseFailure.lost(
                    "The database did not confirm that it is marked as moved, because the connection broke or a standby is "
                        + "missing. So it is not known whether it is. Run 'martlet move' again; if it is marked, the refusal "
                        + "says what to do.")
            }
        } catch .refused(.serializationFailure) {
            throw StorageError(
                .unavailable,
                "The database was written to during the move. Nothing was completed: stop all nodes, and try again.")
        } catch {
            throw error.storageError
        }
    }
}
