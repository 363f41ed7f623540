extension Migration {
    /// The processes that use the database, and the one that owns each shard: `send_ordinals.node` is the incarnation of
    /// the owner, 0 for none. Only the owner sends; what it records is refused when the row names another. It is in this
    /// row because every transaction of sends locks it.
    ///
    /// `send_ordinals.changes` counts the transactions in which other nodes than the owner have changed notifications,
    /// schedules, controls or jobs of the shard; `directory_version` counts the changes of hubs, rules and operators.
    ///
    /// All times in `nodes` are those of the database's clock. A lease ends at `until`; a node is dead when another has
    /// found that it ended, and stays dead. `steady_since` is the time since when the node has renewed its lease without
    /// letting it end: after a failure of the database all leases have ended, and the first node to be back must not
    /// take the others for dead.
    static let nodes = Migration(
        name: "nodes",
        script: """
            CREATE TABLE nodes (
                incarnation int8 PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
                name bytea NOT NULL,
                version bytea NOT NULL,
                schema int4 NOT NULL,
                started_at timestamptz NOT NULL,
                steady_since timestamptz NOT NULL,
                renewed_at timestamptz NOT NULL,
                until timestamptz NOT NULL,
                is_dead bool NOT NULL DEFAULT false
            ) WITH (fillfactor = 50);
            ALTER TABLE send_ordinals ADD COLUMN node int8 NOT NULL DEFAULT 0,
                ADD COLUMN changes int8 NOT NULL DEFAULT 0;
            ALTER TABLE namespace DROP COLUMN node, ADD COLUMN directory_version int8 NOT NULL DEFAULT 0;
            """)
}
