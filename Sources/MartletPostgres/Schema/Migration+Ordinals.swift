extension Migration {
    /// The numbers that were last given to rows of a shard. A number is never used again. A shard is a hub, and may
    /// later be a part of a hub.
    ///
    /// Each transaction that writes locks the row of its shard before it writes, checks that the rows that it has read
    /// are unchanged, and updates the numbers. So numbers are in the order of commits, and a page that reads this row
    /// knows which changes it shows. Each kind of row has its own counter, because progress maps and delivered bitmaps
    /// are divided into blocks of channel numbers. With one counter for all kinds, the channel numbers of a hub would
    /// lie far apart, and most of each block would be unused.
    ///
    /// `writers` has the last transaction of each writer in each shard. If the answer to a COMMIT is lost, the writer
    /// reads its row under the lock of the shard. If the transaction is not stored, the writer records a higher number,
    /// so that the server refuses the transaction if it arrives later.
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
