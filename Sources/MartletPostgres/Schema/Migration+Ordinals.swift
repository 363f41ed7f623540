extension Migration {
    /// The numbers of a shard, which are never used again. A shard is a hub, and may later be a slice of one.
    ///
    /// Each writing transaction locks the row of its shard before it writes, checks there that what it has read still
    /// stands, and updates it: so the order of numbers is the order of commits, and a page that reads the row knows which
    /// changes it shows. The kinds have numbers of their own, because progress maps and runs are blocks of channel
    /// numbers: with one counter for all, the changes of a hub would thin them out.
    ///
    /// `writers` has the last transaction of each writer in each shard. If the answer to a COMMIT is lost, the writer
    /// reads its own row under the lock of the shard, and leaves a higher number behind, so that the transaction is refused
    /// if it is still on its way.
    static let ordinals = Migration(
        name: "ordinals",
        script: """
            CREATE TABLE ordinals (
                shard int4 NOT NULL,
                channels int8 NOT NULL DEFAULT 0,
                registrations int8 NOT NULL DEFAULT 0,
                changes int8 NOT NULL DEFAULT 0,
                history_start int8 NOT NULL DEFAULT 0,
                installations int8 NOT NULL DEFAULT 0,
                tags int8 NOT NULL DEFAULT 0,
                contents int8 NOT NULL DEFAULT 0,
                PRIMARY KEY (shard)
            ) WITH (fillfactor = 10);
            CREATE TABLE writers (
                shard int4 NOT NULL,
                writer int8 NOT NULL,
                transaction int8 NOT NULL,
                PRIMARY KEY (shard, writer)
            ) WITH (fillfactor = 50);
            """)
}
