extension Migration {
    /// Packs are a cache of the registrations, for pages of large audiences (`Pack`). A pack without content is about to
    /// be made. The token changes whenever a pack is made anew. `changed_channels` marks the channels whose registrations
    /// have changed since the token did: what a pack has of them is not valid.
    ///
    /// `has_packs` says whether a shard may have packs. Where it is false, writes of registrations leave no marks.
    ///
    /// The content is stored outside of the row and not compressed, because handles are random. Pages of the table are
    /// left nearly empty, so that the planner does not take the table for one that is read faster as a whole: each write
    /// of a registration looks for one pack.
    static let packs = Migration(
        name: "packs",
        script: """
            CREATE TABLE packs (
                shard int4 NOT NULL,
                scope int4 NOT NULL,
                block int8 NOT NULL,
                token int8 NOT NULL,
                content bytea,
                PRIMARY KEY (shard, scope, block)
            ) WITH (fillfactor = 10);
            ALTER TABLE packs ALTER COLUMN content SET STORAGE EXTERNAL;
            ALTER TABLE ordinals ADD COLUMN has_packs bool NOT NULL DEFAULT false;
            CREATE TABLE changed_channels (
                shard int4 NOT NULL,
                scope int4 NOT NULL,
                channel int8 NOT NULL,
                PRIMARY KEY (shard, scope, channel)
            );
            """)
}
