/// The statements by which nodes divide the shards. Durations are in milliseconds.
enum NodeStatements {
    private static func milliseconds(_ parameter: String) -> String { "\(parameter) * interval '1 millisecond'" }
    private static let now = "(extract(epoch FROM clock_timestamp()) * 1000)::int8"

    /// Adds a node. Returns no row if the data was moved away. A move locks the table, so if this statement had to wait
    /// for a move, it reads the mark that the move has set.
    static let join = Statement.rare(
        [.bytes, .bytes, .int4, .int8, .int8],
        """
        INSERT INTO nodes (name, version, schema, started_at, steady_since, renewed_at, until, home)
        SELECT $1, $2, $3, c.now, c.now, c.now, c.now + \(milliseconds("$4")), $5 FROM (SELECT clock_timestamp() AS now) c
        WHERE (SELECT s.moved_to IS NULL FROM namespace s)
        RETURNING incarnation, started_at::text
        """)

    /// Marks a node as dead, which ends its lease at once.
    static let end = Statement.rare([.int8], "UPDATE nodes SET is_dead = true WHERE incarnation = $1")

    // MARK: Heartbeat

    /// Renews the lease of a node. If its renewals did not follow each other within $3, it is steady only from now on.
    /// A row with another start than $4 is that of another node: a database that was restored from a backup gives the
    /// same incarnations once more.
    ///
    /// The clock is read before the statement waits for the row, which an earlier renewal holds as long as its COMMIT
    /// waits for a standby. So a lease never lasts longer than its node knows.
    static let renew = Statement.rare(
        [.int8, .int8, .int8, .text],
        """
        UPDATE nodes n SET renewed_at = c.now, until = c.now + \(milliseconds("$2")),
            steady_since = CASE WHEN n.renewed_at + \(milliseconds("$3")) < c.now OR n.renewed_at = n.started_at
                THEN c.now ELSE n.steady_since END
        FROM (SELECT clock_timestamp() AS now) c WHERE n.incarnation = $1 AND n.started_at::text = $4
            AND NOT n.is_dead
        RETURNING 1
        """)

    /// Marks nodes as dead whose leases ended more than $3 ago. Does nothing unless this node has renewed its own lease
    /// without a gap for at least $2, and last within $4.
    ///
    /// A row that is locked is being renewed: while commits wait for a standby, for example, all leases seem to have
    /// ended. Such a node is not dead, and this statement does not wait for it.
    static let bury = Statement.rare(
        [.int8, .int8, .int8, .int8],
        """
        UPDATE nodes d SET is_dead = true FROM (
            SELECT o.incarnation FROM nodes o
            WHERE NOT o.is_dead AND o.incarnation <> $1 AND o.until + \(milliseconds("$3")) < clock_timestamp()
                AND EXISTS (SELECT 1 FROM nodes m WHERE m.incarnation = $1 AND NOT m.is_dead
                    AND m.steady_since + \(milliseconds("$2")) <= clock_timestamp()
                    AND m.renewed_at + \(milliseconds("$4")) > clock_timestamp())
            ORDER BY o.incarnation FOR UPDATE SKIP LOCKED) e
        WHERE d.incarnation = e.incarnation
        """)

    /// The SQL condition that a node takes part in the division of shards: its last renewal is no older than $2. A node
    /// that has joined but never renewed its lease does not take part yet.
    private static let isActive = """
        NOT n.is_dead AND n.renewed_at > n.started_at AND n.renewed_at + \(milliseconds("$2")) > clock_timestamp()
        """

    /// Takes over shards that have no owner or whose owner is dead, up to a fair share. The dead nodes are listed
    /// before the shards are locked. A dead node stays dead, so a shard that another node has taken over in between is
    /// not taken from that node.
    static let claim = Statement.rare(
        [.int8, .int8],
        """
        UPDATE send_ordinals o SET node = $1 FROM (
            SELECT f.shard FROM send_ordinals f
            WHERE f.node = ANY(ARRAY(SELECT 0::int8 UNION ALL SELECT d.incarnation FROM nodes d WHERE d.is_dead))
                AND EXISTS (SELECT 1 FROM nodes m WHERE m.incarnation = $1 AND NOT m.is_dead)
            ORDER BY f.shard LIMIT (
                SELECT greatest(0, ceil(s.shards::float8 / greatest(1, (SELECT count(*) FROM nodes n WHERE \(isActive))))
                    - s.own)::int8
                FROM (SELECT count(*) AS shards, count(*) FILTER (WHERE a.node = $1) AS own
                    FROM send_ordinals a WHERE a.moving = 0) s)
            FOR UPDATE SKIP LOCKED) c
        WHERE o.shard = c.shard
        """)

    /// Counts the shards of this node and of each active node.
    static let shares = Statement.rare(
        [.int8, .int8],
        """
        SELECT n.incarnation, (SELECT count(*) FROM send_ordinals o WHERE o.node = n.incarnation) FROM nodes n
        WHERE n.incarnation = $1 OR \(isActive)
        """)

    static let owned = Statement.rare([.int8], "SELECT shard, changes FROM send_ordinals WHERE node = $1")
    static let directory = Statement.rare(
        [],
        """
        SELECT s.directory_version, (SELECT count(*) FROM nodes n
            WHERE NOT n.is_dead AND n.until > clock_timestamp() AND n.renewed_at > n.started_at),
            \(now)
        FROM namespace s
        """)
    static let clock = Statement.rare([], "SELECT \(now)")

    // MARK: Handing over

    /// The SQL condition that a shard has no unfinished delivery, no waiting part and no unfinished job.
    private static let isIdle = """
        NOT EXISTS (SELECT 1 FROM deliveries d WHERE d.shard = o.shard AND NOT d.is_final
            AND d.id >= o.shard::int8 << 43 AND d.id < (o.shard::int8 + 1) << 43)
        AND NOT EXISTS (SELECT 1 FROM parts p WHERE p.shard = o.shard AND p.begun_at IS NULL)
        AND NOT EXISTS (SELECT 1 FROM jobs j WHERE j.shard = o.shard AND NOT j.is_final)
        """

    static let lockIdle = Statement.rare(
        [.int8, .int8],
        """
        SELECT o.shard FROM send_ordinals o WHERE o.node = $1 AND \(isIdle) ORDER BY o.shard LIMIT $2
        FOR UPDATE SKIP LOCKED
        """)

    /// Checks once more that the shard is idle. This statement runs under the lock, so it sees everything that was
    /// committed before the lock was taken.
    static let handOver = Statement.rare(
        [.int8, .int8, .int4s],
        "UPDATE send_ordinals o SET node = $2 WHERE o.shard = ANY($3) AND o.node = $1 AND \(isIdle)")

    // MARK: Listing

    private static func time(_ column: String) -> String { "(extract(epoch FROM n.\(column)) * 1000)::int8" }

    static let list = Statement.rare(
        [],
        """
        SELECT n.incarnation, n.name, n.version, \(time("started_at")), \(time("renewed_at")),
            NOT n.is_dead AND n.until > clock_timestamp(),
            (SELECT count(*) FROM send_ordinals o WHERE o.node = n.incarnation)
        FROM nodes n WHERE n.until > clock_timestamp() - interval '1 day' ORDER BY n.incarnation
        """)

    /// Counts the hubs of each node, by the incarnations in the first cluster.
    static let hubsByHome = Statement.rare(
        [],
        """
        SELECT n.home, count(*) FROM nodes n JOIN send_ordinals o ON o.node = n.incarnation
        WHERE n.home IS NOT NULL GROUP BY n.home
        """)

    // MARK: Sweeping

    /// Removes nodes whose lease ended more than a day ago. A dead node that still owns a shard is kept, so that
    /// another node takes the shard over.
    static let sweep = Statement.rare(
        [],
        """
        DELETE FROM nodes n WHERE n.is_dead AND n.until < clock_timestamp() - interval '1 day'
            AND NOT EXISTS (SELECT 1 FROM send_ordinals o WHERE o.node = n.incarnation)
        """)

    /// Removes the rows of writers whose node has been removed. Such a node ended more than a day ago, so its
    /// transactions are not looked up any more.
    static let sweepWriters = Statement.rare(
        [], "DELETE FROM writers w WHERE NOT EXISTS (SELECT 1 FROM nodes n WHERE n.incarnation = w.writer >> 1)")

    // MARK: Hints

    static let notify = Statement.rare([.text, .texts], "SELECT pg_notify($1, h.text) FROM unnest($2) h (text)")

    static func listen(to channel: String) -> Statement { .rare([], "LISTEN \"\(channel)\"") }
}
