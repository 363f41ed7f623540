/// The statements on packs, and on the marks of channels that have changed since their pack was made.
enum PackStatements {
    /// Marks channels whose registrations change. It runs in the transaction that changes them, under the lock of
    /// `ordinals`, and is left out if the shard has no packs (`Ordinals.hasPacks`). A channel without a pack needs no
    /// mark. The subquery looks in the index for each channel; the planner would turn an EXISTS into a join that may read
    /// all packs.
    static let mark = Statement.hot(
        [.int4, .int4s, .int8s],
        """
        INSERT INTO changed_channels (shard, scope, channel)
        SELECT $1, n.scope, n.channel FROM unnest($2, $3) n (scope, channel)
        WHERE (SELECT p.token FROM packs p WHERE p.shard = $1 AND p.scope = n.scope
            AND p.block = n.channel / \(PackBlock.size)) IS NOT NULL
        ON CONFLICT (shard, scope, channel) DO NOTHING
        """)

    // MARK: Reading

    /// Reads the numbers of a hub, and the marked channels from $3 to before $4.
    static let overview = Statement.hot(
        [.int4, .int4, .int8, .int8],
        """
        SELECT o.changes, o.registrations, o.channels,
            (SELECT string_agg(int8send(d.channel), '' ORDER BY d.channel) FROM changed_channels d
                WHERE d.shard = $1 AND d.scope = $2 AND d.channel >= $3 AND d.channel < $4)
        FROM ordinals o WHERE o.shard = $1
        """)

    /// Reads the packs of the blocks from $3 to before $4. A pack whose token is among $5 comes without its content.
    static let packs = Statement.hot(
        [.int4, .int4, .int8, .int8, .int8s],
        """
        SELECT p.block, p.token, p.content IS NOT NULL, CASE WHEN p.token = ANY($5) THEN NULL ELSE p.content END
        FROM packs p WHERE p.shard = $1 AND p.scope = $2 AND p.block >= $3 AND p.block < $4 ORDER BY p.block
        """)

    // MARK: Making

    /// Fails while a node of an earlier version may write registrations, because it would leave no marks.
    static let refuseOlderNodes = Statement.rare(
        [.int4], "SELECT 1 / (count(*) = 0)::int4 FROM nodes n WHERE NOT n.is_dead AND n.schema < $1")

    static let removeMarks = Statement.hot(
        [.int4, .int4, .int8, .int8],
        "DELETE FROM changed_channels d WHERE d.shard = $1 AND d.scope = $2 AND d.channel >= $3 AND d.channel < $4")

    /// Announces a pack: from now on, changes of its block are marked. Does nothing if the hub is gone.
    static let announce = Statement.hot(
        [.int4, .int4, .int8, .int8],
        """
        INSERT INTO packs (shard, scope, block, token) SELECT $1, $2, $3, $4 FROM ordinals o WHERE o.shard = $1
        ON CONFLICT (shard, scope, block) DO UPDATE SET token = excluded.token, content = NULL
        """)

    /// Says that the shard has packs. It runs in the transaction that announces a pack, under the lock of `ordinals`.
    static let noteSome = Statement.hot(
        [.int4], "UPDATE ordinals SET has_packs = true WHERE shard = $1 AND NOT has_packs")

    static let entries = Statement.hot(
        [.int4, .int4, .int8, .int8, .int8],
        """
        SELECT r.channel, r.sequence, r.handle, r.tags, coalesce(r.template, 0), coalesce(r.variables, 0),
            coalesce(r.expires_at, \(Int64.max))
        FROM registrations r WHERE r.shard = $1 AND r.scope = $2 AND r.channel >= $3 AND r.channel < $4
        ORDER BY r.channel, r.sequence LIMIT $5
        """)

    /// Stores the content of a pack, unless the pack was announced anew since.
    static let store = Statement.hot(
        [.int4, .int4, .int8, .int8, .bytes],
        """
        UPDATE packs p SET content = $5
        WHERE p.shard = $1 AND p.scope = $2 AND p.block = $3 AND p.token = $4 AND p.content IS NULL
        """)

    static let remove = Statement.hot(
        [.int4, .int4, .int8], "DELETE FROM packs p WHERE p.shard = $1 AND p.scope = $2 AND p.block = $3")

    /// Says that the shard has no packs, if that is true. It must be a statement of its own after the one that locks
    /// `ordinals`, so that it sees the packs of all transactions that held the lock before.
    static let noteNone = Statement.hot(
        [.int4],
        """
        UPDATE ordinals SET has_packs = false
        WHERE shard = $1 AND has_packs AND NOT EXISTS (SELECT 1 FROM packs p WHERE p.shard = $1)
        """)

    // MARK: Sweeping and moves

    /// The blocks with more than $1 marked channels.
    static let changedBlocks = Statement.rare(
        [.int8],
        """
        SELECT d.shard, d.scope, d.channel / \(PackBlock.size) FROM changed_channels d
        GROUP BY 1, 2, 3 HAVING count(*) > $1
        """)

    static let removeMarksOfShard = Statement.rare([.int4], "DELETE FROM changed_channels WHERE shard = $1")
    static let removePacksOfShard = Statement.rare([.int4], "DELETE FROM packs WHERE shard = $1")
}
