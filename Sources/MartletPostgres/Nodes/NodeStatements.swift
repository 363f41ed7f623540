/// The statements by which nodes divide the shards. Durations are in milliseconds.
enum NodeStatements {
    private static func milliseconds(_ parameter: String) -> String { "\(parameter) * interval '1 millisecond'" }

    static let join = Statement.rare(
        [.bytes, .bytes, .int4, .int8],
        """
        INSERT INTO nodes (name, version, schema, started_at, steady_since, renewed_at, until)
        SELECT $1, $2, $3, c.now, c.now, c.now, c.now + \(milliseconds("$4")) FROM (SELECT clock_timestamp() AS now) c
        RETURNING incarnation
        """)

    /// Ends a lease.
    static let end = Statement.rare([.int8], "UPDATE nodes SET is_dead = true WHERE incarnation = $1")

    // MARK: Heartbeat

    static let renew = Statement.rare(
        [.int8, .int8],
        """
        UPDATE nodes n SET renewed_at = c.now, until = c.now + \(milliseconds("$2")),
            steady_since = CASE WHEN n.until < c.now THEN c.now ELSE n.steady_since END
        FROM (SELECT clock_timestamp() AS now) c WHERE n.incarnation = $1 AND NOT n.is_dead RETURNING 1
        """)

    /// Finds out whose leases have ended: for longer than $3, and only if this node has been steady for $2.
    static let bury = Statement.rare(
        [.int8, .int8, .int8],
        """
        UPDATE nodes d SET is_dead = true FROM nodes m
        WHERE m.incarnation = $1 AND NOT m.is_dead AND m.steady_since + \(milliseconds("$2")) <= clock_timestamp()
            AND NOT d.is_dead AND d.incarnation <> $1 AND d.until + \(milliseconds("$3")) < clock_timestamp()
        """)

    /// Nodes whose last renewal is no older than $2: those that miss renewals are not waited for, and one that has only
    /// joined is given nothing before it asks for it.
    private static let isActive = """
        NOT n.is_dead AND n.renewed_at > n.started_at AND n.renewed_at + \(milliseconds("$2")) > clock_timestamp()
        """

    /// Takes over shards without an owner, and those of dead nodes: as many as make a fair share. The dead are listed
    /// before the shards are locked, and a node stays dead; so a shard that another node has taken meanwhile is not
    /// taken from it.
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
                FROM (SELECT count(*) AS shards, count(*) FILTER (WHERE a.node = $1) AS own FROM send_ordinals a) s)
            FOR UPDATE SKIP LOCKED) c
        WHERE o.shard = c.shard
        """)

    /// The number of shards of each active node.
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
        SELECT s.directory_version, (SELECT count(*) FROM nodes n WHERE NOT n.is_dead AND n.until > clock_timestamp())
        FROM namespace s
        """)

    // MARK: Handing over

    /// True if nothing of a shard is being sent, is held back or is worked on.
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

    /// Looks once more, under the lock, because this statement sees what was stored before the lock was there.
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

    // MARK: Sweeping

    /// Removes the dead of the day before. One to whom a shard still belongs stays, so that another node takes it over.
    static let sweep = Statement.rare(
        [],
        """
        DELETE FROM nodes n WHERE n.is_dead AND n.until < clock_timestamp() - interval '1 day'
            AND NOT EXISTS (SELECT 1 FROM send_ordinals o WHERE o.node = n.incarnation)
        """)

    /// Nobody looks any more for the last transactions of a node that is gone for so long.
    static let sweepWriters = Statement.rare(
        [], "DELETE FROM writers w WHERE NOT EXISTS (SELECT 1 FROM nodes n WHERE n.incarnation = w.writer >> 1)")

    // MARK: Hints

    static let notify = Statement.rare([.text, .texts], "SELECT pg_notify($1, h.text) FROM unnest($2) h (text)")

    static func listen(to channel: String) -> Statement { .rare([], "LISTEN \"\(channel)\"") }
}
