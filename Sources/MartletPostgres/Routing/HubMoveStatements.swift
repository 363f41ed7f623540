/// The statements of a move of a hub.
enum HubMoveStatements {
    static let tryLock = Statement.rare([.int8], "SELECT pg_try_advisory_lock($1)")
    static let clock = Statement.rare([], "SELECT clock_timestamp()::text")
    /// Counts the nodes that are alive, and have not renewed their lease since a moment.
    static let unawareNodes = Statement.rare(
        [.text],
        """
        SELECT count(*) FROM nodes n WHERE NOT n.is_dead AND n.until > clock_timestamp()
            AND n.renewed_at > n.started_at AND n.renewed_at <= $1::timestamptz
        """)
    static let limit = Statement.rare([.text], "SELECT set_config('statement_timeout', $1, false)")

    static let setMove = Statement.rare(
        [.int8, .int8, .int4],
        "UPDATE hubs SET move = $2, is_quiet = false WHERE id = $1 AND cluster = $3 AND NOT is_deleted")
    static let setQuiet = Statement.rare(
        [.int8, .int8], "UPDATE hubs SET is_quiet = true WHERE id = $1 AND move = $2 AND NOT is_deleted")
    static let setCluster = Statement.rare(
        [.int8, .int8, .int4],
        """
        UPDATE hubs SET cluster = $3, move = NULL, is_quiet = false WHERE id = $1 AND move = $2 AND NOT is_deleted
            AND ($3 = 1 OR EXISTS (SELECT 1 FROM clusters c WHERE c.number = $3 AND NOT c.is_removed))
        """)

    // In the source.
    static let freeOtherOrdinals = Statement.rare(
        [.int4, .int8], "UPDATE ordinals SET moving = 0 WHERE shard = $1 AND moving <> 0 AND moving <> $2")
    static let freeOtherSendOrdinals = Statement.rare(
        [.int4, .int8],
        "UPDATE send_ordinals SET moving = 0, node = 0 WHERE shard = $1 AND moving <> 0 AND moving <> $2")
    static let stopOrdinals = Statement.rare(
        [.int4, .int8], "UPDATE ordinals SET moving = $2 WHERE shard = $1 AND moving = 0")
    static let stopSendOrdinals = Statement.rare(
        [.int4, .int8], "UPDATE send_ordinals SET moving = $2, node = -1 WHERE shard = $1 AND moving = 0")
    static let readOrdinals = Statement.rare(
        [.int4], "SELECT to_jsonb(o)::text FROM ordinals o WHERE o.shard = $1")
    static let readSendOrdinals = Statement.rare(
        [.int4], "SELECT to_jsonb(o)::text FROM send_ordinals o WHERE o.shard = $1")

    // In the target. Until the hub is on this cluster, nothing is written to it.
    static let holdOrdinals = Statement.rare(
        [.int4, .int8],
        """
        INSERT INTO ordinals (shard, moving) VALUES ($1, $2) ON CONFLICT (shard) DO UPDATE SET moving = excluded.moving
        """)
    static let holdSendOrdinals = Statement.rare(
        [.int4, .int8],
        """
        INSERT INTO send_ordinals (shard, moving, node) VALUES ($1, $2, -1)
        ON CONFLICT (shard) DO UPDATE SET moving = excluded.moving, node = -1
        """)
    static let countPlatforms = Statement.rare(
        [.int4s, .texts],
        """
        SELECT count(*) FROM unnest($1, $2) f (number, name) JOIN platforms p ON p.number = f.number AND p.name = f.name
        """)
    /// Packs are not copied.
    static let writeOrdinals = Statement.rare(
        [.text, .int8],
        """
        INSERT INTO ordinals
        SELECT (jsonb_populate_record(NULL::ordinals, $1::jsonb || jsonb_build_object('moving', $2, 'has_packs', false))).*
        """)
    static let writeSendOrdinals = Statement.rare(
        [.text, .int8],
        """
        INSERT INTO send_ordinals
        SELECT (jsonb_populate_record(NULL::send_ordinals, $1::jsonb || jsonb_build_object('moving', $2, 'node', -1))).*
        """)
}
