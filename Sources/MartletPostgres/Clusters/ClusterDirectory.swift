import MartletCore
import MartletModel

/// What the first cluster knows of the others: their addresses, and which hubs are on them.
struct ClusterDirectory: Sendable {
    /// `NodeRenewal.directoryVersion`, read before everything else.
    var version: Int64 = 0
    /// Identifies the first cluster; nil as long as no other was added.
    var home: Int64?
    /// The sealed addresses of the clusters besides the first.
    var addresses: [Int32: [UInt8]] = [:]
    /// The hubs that are on another cluster than the first, or that are being moved.
    var routes: [Hub.ID: HubRoute] = [:]

    /// Where a hub is, and whether it is being moved.
    struct HubRoute: Equatable, Sendable {
        var cluster: Int32 = 1
        /// The token of the move that is under way; nil if there is none.
        var move: Int64?
        /// Whether nobody sends for the hub, because its move is about to complete.
        var isQuiet = false
    }

    init() {}

    /// - Parameter rows: The rows of `reading`.
    init(_ rows: [Rows]) {
        version = rows[0].count == 1 ? rows[0][0].integer(0) : 0
        home = rows[0].count == 1 ? rows[0][0].optionalInteger(1) : nil
        for index in 0..<rows[1].count { addresses[rows[1][index].integer32(0)] = rows[1][index].bytes(1) }
        for index in 0..<rows[2].count {
            let row = rows[2][index]
            routes[Hub.ID(rawValue: row.integer(0))] = HubRoute(
                cluster: row.integer32(1), move: row.optionalInteger(2), isQuiet: row.bool(3))
        }
    }

    /// The statements whose rows are a directory.
    static var reading: Batch {
        var batch = Batch(ClusterStatements.version)
        batch.add(ClusterStatements.list)
        batch.add(ClusterStatements.routes)
        return batch
    }
}

/// The statements on clusters. They run rarely, because nodes keep the directory in memory.
enum ClusterStatements {
    /// The beginning of the context with which an address is sealed; the number of the cluster follows.
    static let context = "clusters/"

    static let version = Statement.rare([], "SELECT directory_version, home FROM namespace")
    static let list = Statement.rare(
        [], "SELECT number, sealed_address FROM clusters WHERE NOT is_removed ORDER BY number")
    static let routes = Statement.rare(
        [],
        """
        SELECT id, cluster, move, is_quiet FROM hubs WHERE NOT is_deleted AND (cluster <> 1 OR move IS NOT NULL)
        """)
    static let route = Statement.rare(
        [.int8], "SELECT id, cluster, move, is_quiet FROM hubs WHERE id = $1 AND NOT is_deleted")
    static let counts = Statement.rare(
        [], "SELECT cluster, count(*) FROM hubs WHERE NOT is_deleted GROUP BY cluster")

    // MARK: Adding

    static let setHome = Statement.rare([.int8], "UPDATE namespace SET home = $1 WHERE home IS NULL")
    static let lastNumber = Statement.rare([], "SELECT greatest(1, max(number)) + 1 FROM clusters")
    static let put = Statement.rare(
        [.int4, .bytes, .int8],
        """
        INSERT INTO clusters (number, sealed_address, added_at) VALUES ($1, $2, $3)
        ON CONFLICT (number) DO UPDATE SET sealed_address = excluded.sealed_address, is_removed = false
        """)
    /// Removes a cluster, unless a hub is on it, or a deleted hub has left rows there.
    static let remove = Statement.rare(
        [.int4],
        """
        UPDATE clusters SET is_removed = true
        WHERE number = $1 AND NOT is_removed AND NOT EXISTS (SELECT 1 FROM hubs h WHERE h.cluster = $1)
        """)
    /// What tells whether a database is in use by a server of its own.
    static let use = Statement.rare(
        [],
        """
        SELECT (SELECT count(*) FROM hubs), (SELECT count(*) FROM clusters),
            (SELECT count(*) FROM nodes n WHERE NOT n.is_dead AND n.until > clock_timestamp()),
            (SELECT moved_to FROM namespace), (SELECT cluster FROM namespace), (SELECT home FROM namespace)
        """)
    static let setPlace = Statement.rare([.int4, .int8], "UPDATE namespace SET cluster = $1, home = $2")
    static let olderNodes = Statement.rare(
        [.int4],
        "SELECT count(*) FROM nodes n WHERE NOT n.is_dead AND n.until > clock_timestamp() AND n.schema < $1")

    // MARK: Moves that did not complete, and what completed moves have left

    static let tryLock = Statement.rare([.int8], "SELECT pg_try_advisory_xact_lock($1)")
    static let endMove = Statement.rare(
        [.int8, .int8], "UPDATE hubs SET move = NULL, is_quiet = false WHERE id = $1 AND move = $2")
    static let moving = Statement.rare([], "SELECT shard, moving FROM send_ordinals WHERE moving <> 0 ORDER BY shard")
    static let freeOrdinals = Statement.rare(
        [.int4, .int8], "UPDATE ordinals SET moving = 0 WHERE shard = $1 AND moving = $2")
    static let freeSendOrdinals = Statement.rare(
        [.int4, .int8], "UPDATE send_ordinals SET moving = 0, node = 0 WHERE shard = $1 AND moving = $2")
    static let lockMoved = Statement.rare(
        [.int4, .int8], "SELECT 1 FROM ordinals WHERE shard = $1 AND moving = $2 FOR UPDATE")
}

/// The advisory locks of moves. A move holds them on its connections, so a move that has ended is known by locks that
/// are free.
enum HubMoveLock {
    /// Held in the first cluster for the whole move.
    static func ofHub(_ hub: Hub.ID, _ schema: String) -> Int64 { key("\(schema)\u{0}move", hub) }
    /// Held in both clusters of the move. The removal of what a move has left holds it too.
    static func ofShard(_ hub: Hub.ID, _ schema: String) -> Int64 { key("\(schema)\u{0}shard", hub) }

    private static func key(_ purpose: String, _ hub: Hub.ID) -> Int64 {
        purpose.utf8.reduce(hub.rawValue &+ 0x6D61_7274) { $0 &* 1_000_003 &+ Int64($1) }
    }
}
