import MartletCore

/// The place of a database among the clusters of a server.
struct ClusterPlace: Sendable {
    /// The number of the cluster; at least 2, because the first has no place.
    var number: Int32
    /// Identifies the first cluster (`namespace.home`).
    var home: Int64
    /// The incarnation of this node in the first cluster.
    var incarnation: Int64

    /// Checks that a database has the place that this node expects.
    /// - Parameter place: The expected place; nil for the first cluster.
    /// - Returns: The reason why the node cannot use the database so; nil if the place is right.
    static func fault(
        of place: ClusterPlace?, _ address: DatabaseAddress, _ connection: Connection,
        _ patience: Connection.Patience
    ) throws(DatabaseFailure) -> StorageError? {
        let rows = try connection.run(Batch(ClusterStatements.place), patience)[0]
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
        return StorageError(
            .unavailable,
            "\(address) is not cluster \(place.number) of this server. Was it restored or made anew? Let the address of the "
                + "cluster lead to its database again.")
    }
}
