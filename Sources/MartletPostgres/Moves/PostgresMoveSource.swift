public import MartletCore

/// A database on PostgreSQL whose data is moved. No node may serve it; as long as this object lives, none can start.
public final class PostgresMoveSource: MoveSource {
    private let reader: PostgresMoveReader

    /// Opens a database.
    /// - Parameters:
    ///   - sealer: Opens the secrets of the hubs. It has the keys of the database's nodes.
    ///   - schema: The schema in which the tables are.
    /// - Throws: `StorageError` if a node runs, if the schema is another one, or if the key is.
    public init(
        _ address: DatabaseAddress, sealer: any Sealer, rules: MoveRules, schema: String = "martlet"
    ) throws(StorageError) {
        let (connection, state) = try MoveSession.open(address, schema)
        if let refusal = state.refusalToMove { throw refusal }
        guard state == .current else {
            throw StorageError(.unavailable, "There is nothing to move: \(address) has never been served.")
        }
        try MoveSession.attempt { () throws(DatabaseFailure) in
            try connection.run("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
        }
        try MoveSession.lock(connection, schema)
        try MoveSession.checkNodes(connection)
        try MoveSession.checkKey(connection, sealer)
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
}
