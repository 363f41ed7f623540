import MartletCore

/// The place of a database among the clusters of a server.
struct ClusterPlace: Sendable {
    /// The number of the cluster; at least 2, because the first has no place.
    var number: Int32
    /// Identifies the first cluster (`namespace.home`).
    var home: Int64
    /// The incarnation of this node in the first cluster.
    var incarnation: Int64

    /// Reads the number of a database as a cluster, and the first cluster that it belongs to.
    static let statement = Statement.rare([], "SELECT cluster, home FROM namespace")

    /// Checks that a database has the place that this node expects.
    /// - Parameter place: The expected place; nil for the first cluster.
    /// - Returns: The reason why the node cannot use the database so; nil if the place is right.
    static func fault(
        of place: ClusterPlace?, _ address: DatabaseAddress, _ connection: Connection,
        _ patience: Connection.Patience
    ) throws(DatabaseFailure) -> StorageError? {
        let rows = try connection.run(Batch(Self.statement), patience)[0]
        guard rows.count == 1 else { throw .corrupt("The row of the namespace is missing; restore a backup.") }
        let (number, home) = (rows[0].integer32(0), rows[0].optionalInteger(1))
        guard let place else {
            guard number != 1 else { return nil }
            return StorageError(
                .unavailable,
                "The database is cluster \(number) of a server whose first cluster is another. Name the first cluster with "
                    + "--database.")
        }
        guard number != place.number || home != place.home else { return nil }
        return StorageError(.unavailable, place.sentence(for: address))
    }

    /// Checks that a connection leads to this cluster, and not to a database that was made anew, for example. In such a
    /// database all hubs would seem to be empty.
    /// - Throws: `DatabaseFailure.lost` if it does not, as if the cluster could not be reached.
    func check(
        _ address: DatabaseAddress, _ connection: Connection, _ patience: Connection.Patience
    ) throws(DatabaseFailure) {
        switch try connection.run([Batch(Self.statement)], patience)[0] {
        case .success(let answers):
            let rows = answers[0]
            guard rows.count == 1, rows[0].integer32(0) == number, rows[0].optionalInteger(1) == home else {
                throw .lost(sentence(for: address))
            }
        case .failure(.refused(let state)) where state.isAboutMissingTable: throw .lost(sentence(for: address))
        case .failure(let failure): throw failure
        }
    }

    func sentence(for address: DatabaseAddress) -> String {
        "\(address) is not the database of cluster \(number) of this server. Was it made anew? Restore the backup of the "
            + "cluster there, or let its address lead to its database: martlet cluster add --address-file FILE."
    }
}
