extension Migration {
    /// The hubs, the namespace and the platforms. They belong to no shard, because a later version may use them to find
    /// the database of a hub. The settings of a hub are one value, in which each secret is sealed. A hub that is marked
    /// as deleted no longer occupies its name; its rows are removed in portions.
    ///
    /// The column `node` is unused, and the migration `nodes` removes it. `sealed_check` is a sealed text that only the
    /// keys of this database open.
    ///
    /// `platforms` gives each platform a number. The `scope` of a registration is twice the number of its platform,
    /// plus one for a template registration. A fan-out reads registrations in the order of their primary key, in which
    /// the scope follows the shard.
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
