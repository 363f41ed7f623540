import MartletCore

/// What a node does before it serves, on a connection of its own: it makes sure that no other node serves, that the
/// database is one for this program, and that its keys open what is sealed there.
struct NodeStart: Sendable {
    /// nil if the database admits other nodes.
    var fence: NodeFence?
    /// The deliveries that earlier nodes have left.
    var unfinished: [Delivery.ID]

    /// - Parameter takeover: How long to wait for the node before to end; nil to admit other nodes.
    static func run(
        _ settings: ConnectionSettings, _ sealer: any Sealer, takeover: Duration?, _ connection: Connection
    ) throws(DatabaseFailure) -> Result<NodeStart, StorageError> {
        // The migration of a large database takes its time.
        let patience = Connection.Patience.until(.now + (takeover ?? .zero) + .seconds(60))
        let check = try ServerCheck(connection, patience)
        if let fault = check.fault(of: settings.address) { return .failure(fault) }
        let key = NodeFence.key(of: settings.schema)
        if let takeover { try NodeFence.take(key, takeover, connection, patience) }
        do throws(StorageError) {
            try Migrator(migrations: Migration.all, schema: settings.schema).migrate(connection, patience)
        } catch {
            return .failure(error)
        }
        if let fault = try KeyCheck(sealer: sealer).check(connection, patience) { return .failure(fault) }
        var fence: NodeFence?
        if takeover != nil {
            // No transaction of an earlier node is on its way any more, so nobody looks for its row.
            try connection.run(Batch(forgetWriters), patience)
            fence = try NodeFence.begin(key, connection, patience)
        }
        let rows = try connection.run(Batch(unfinished), patience)[0]
        return .success(
            NodeStart(
                fence: fence,
                unfinished: (0..<rows.count).map { Delivery.ID(rawValue: rows[$0].integer(0)) }))
    }

    private static let forgetWriters = Statement.rare([], "DELETE FROM writers")
    private static let unfinished = Statement.rare([], "SELECT id FROM deliveries WHERE NOT is_final")
}
