import MartletCore
import MartletModel

/// The steps that a node takes before it serves, on a separate connection. The node checks that this program can use
/// the database and that the node's key opens the sealed secrets. Then it migrates the schema, and joins the nodes.
struct NodeStart: Sendable {
    var incarnation: Int64
    /// When the node joined, as the database writes it. It tells two nodes with the same incarnation apart.
    var startedAt: String
    /// The deliveries that are not finished.
    var unfinished: [Delivery.ID]
    /// The other clusters and the hubs on them, if this database is the first cluster.
    var clusters = ClusterDirectory()

    /// What a node tells about itself when it joins.
    struct Applicant: Sendable {
        var name: String
        /// The version of the program.
        var version: String
        /// How long a lease of this node lasts.
        var lease: Duration
        /// The incarnation of a process that has certainly ended; nil if there is none. Other nodes may take over its
        /// hubs at once.
        var predecessor: Int64?
        /// The place of the database among several clusters; nil for the first cluster.
        var place: ClusterPlace?
    }

    /// The minimum duration of the lease with which a node joins. It gives a slow machine time to finish its start. It
    /// delays no takeover, because the node owns no hub before its first renewal.
    private static let startPatience = Duration.seconds(60)

    static func run(
        _ settings: ConnectionSettings, _ sealer: any Sealer, _ applicant: Applicant, _ connection: Connection
    ) throws(DatabaseFailure) -> Result<NodeStart, StorageError> {
        // The migration of a large database can take long.
        let patience = Connection.Patience.until(.now + .seconds(60))
        let check = try ServerCheck(connection, patience)
        if let fault = check.fault(of: settings.address) { return .failure(fault) }
        do throws(StorageError) {
            try Migrator(migrations: Migration.all, schema: settings.schema).migrate(connection, patience)
        } catch {
            return .failure(error)
        }
        if let fault = try ClusterPlace.fault(of: applicant.place, settings.address, connection, patience) {
            return .failure(fault)
        }
        if let fault = try KeyCheck(sealer: sealer).check(connection, patience) { return .failure(fault) }
        var batch = Batch(NodeStatements.join) {
            $0.add(applicant.name)
            $0.add(applicant.version)
            $0.add(Int32(Migration.all.count))
            $0.add(max(applicant.lease, Self.startPatience).wholeMilliseconds)
            $0.add(applicant.place?.incarnation)
        }
        batch.add(unfinished)
        if let predecessor = applicant.predecessor { batch.add(NodeStatements.end) { $0.add(predecessor) } }
        let rows = try connection.run(batch, patience)
        // After a warning, no standby may know of the node.
        guard !connection.hasWarned else { throw .late }
        guard rows[0].count == 1 else {
            let place = try connection.run(Batch(MovedAway.stored), patience)[0][0].optionalText(0)
            return .failure(MovedAway.refusal(place ?? "another place", settings.schema))
        }
        return .success(
            NodeStart(
                incarnation: rows[0][0].integer(0), startedAt: rows[0][0].text(1),
                unfinished: (0..<rows[1].count).map { Delivery.ID(rawValue: rows[1][$0].integer(0)) },
                clusters: ClusterDirectory(try connection.run(ClusterDirectory.reading, patience))))
    }

    private static let unfinished = Statement.rare([], "SELECT id FROM deliveries WHERE NOT is_final")
}
