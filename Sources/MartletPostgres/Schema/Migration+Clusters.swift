extension Migration {
    /// The database clusters that the hubs live on. All of this is in the first cluster, except for `moving`,
    /// `namespace` and `nodes.home`, which each cluster has of its own.
    ///
    /// `hubs.cluster` says where the rows of a hub are; 1 is the first cluster, which has no row in `clusters`. `move` is
    /// the token of the move that is under way: a random number, without which the move cannot complete. `is_quiet` tells
    /// the nodes to stop sending for the hub, because its move is about to complete.
    ///
    /// In a cluster, `moving` is the token of the move that has taken the shard away, or is about to take or bring it: as long as it is
    /// not 0, nothing is written to the shard in this cluster (`ShardNumbers`). The two rows stay when the shard has
    /// moved, so that a node that does not know of the move yet is refused.
    ///
    /// `namespace.cluster` is the number of this cluster, and `namespace.home` identifies the first cluster that it
    /// belongs to. `nodes.home` is the incarnation that a node has in the first cluster.
    static let clusters = Migration(
        name: "clusters",
        script: """
            CREATE TABLE clusters (
                number int4 PRIMARY KEY,
                sealed_address bytea NOT NULL,
                added_at int8 NOT NULL
            );
            ALTER TABLE hubs ADD COLUMN cluster int4 NOT NULL DEFAULT 1, ADD COLUMN move int8,
                ADD COLUMN is_quiet bool NOT NULL DEFAULT false;
            ALTER TABLE namespace ADD COLUMN cluster int4 NOT NULL DEFAULT 1, ADD COLUMN home int8;
            ALTER TABLE nodes ADD COLUMN home int8;
            ALTER TABLE ordinals ADD COLUMN moving int8 NOT NULL DEFAULT 0;
            ALTER TABLE send_ordinals ADD COLUMN moving int8 NOT NULL DEFAULT 0;
            """)

    /// A cluster that was removed keeps its row, so that no other gets its number: the mark in its database still names
    /// it.
    static let removedClusters = Migration(
        name: "removedClusters", script: "ALTER TABLE clusters ADD COLUMN is_removed bool NOT NULL DEFAULT false;")
}
