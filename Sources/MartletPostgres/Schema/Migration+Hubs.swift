extension Migration {
    /// The directory of hubs, which later leads to several databases: so these tables have no shard. Settings are one
    /// value, sealed as far as they are secret. A hub that is marked as deleted no longer occupies its name; its rows
    /// are removed in portions.
    ///
    /// `node` is of no use any more (`nodes`). `sealed_check` is a sealed text that only the keys of this database open.
    ///
    /// `platforms` gives each platform a number. With the kind of a registration it is the `scope`, twice the number,
    /// and one more for templates: the place in the key by which a fan-out reads.
    static let hubs = Migration(
        name: "hubs",
        script: """
            CREATE TABLE hubs (
                id int8 PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
                name bytea NOT NULL,
                folded_name bytea NOT NULL UNIQUE,
                settings bytea NOT NULL,
                version int8 NOT NULL DEFAULT 1,
                created_at int8 NOT NULL,
                modified_at int8 NOT NULL,
                is_deleted bool NOT NULL DEFAULT false
            );
            CREATE TABLE namespace (
                is_only bool PRIMARY KEY DEFAULT true CHECK (is_only),
                rules bytea,
                backend_hub int8,
                node int8 NOT NULL DEFAULT 0,
                sealed_check bytea
            );
            INSERT INTO namespace DEFAULT VALUES;
            CREATE TABLE platforms (
                number int4 PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
                name text NOT NULL UNIQUE
            );
            """)
}
