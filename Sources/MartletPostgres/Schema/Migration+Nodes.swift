extension Migration {
    /// The processes that use the database, and the owner of each shard: `send_ordinals.node` is the incarnation of the
    /// owner, 0 for none. Only the owner sends. If a former owner records the outcomes of a send, the record is
    /// refused. The owner is stored in this row because every transaction of sends locks the row.
    ///
    /// `send_ordinals.changes` counts the transactions in which nodes other than the owner have changed notifications,
    /// schedules, controls or jobs of the shard. `directory_version` counts the changes of hubs, access rules and
    /// operators.
    ///
    /// All times in `nodes` are those of the database's clock. A lease ends at `until`. A node is dead when another
    /// node has found that its lease has ended, and stays dead. `steady_since` is the time since which the node has
    /// renewed its lease without a gap of half a lease. After a failure of the database the leases of all nodes have
    /// ended, and the first node that renews must not declare the others dead.
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

    /// `moved_to` is the place that the data was moved to; NULL if the data was not moved. Nodes do not start on a
    /// database whose data was moved.
    static let moves = Migration(name: "moves", script: "ALTER TABLE namespace ADD COLUMN moved_to text;")
}
