extension Migration {
    /// Makes the tables of hubs, access rules and credentials.
    ///
    /// `registration_ttl` is in milliseconds. A hub that is marked as deleted no longer occupies its name; `HubPurge`
    /// removes its data in portions.
    static let hubs = Migration(
        name: "hubs",
        script: """
            CREATE TABLE hubs (
                id INTEGER PRIMARY KEY AUTOINCREMENT,
                name TEXT NOT NULL,
                folded_name TEXT NOT NULL UNIQUE,
                registration_ttl INTEGER,
                user_metadata TEXT,
                request_rate INTEGER,
                backlog_limit INTEGER,
                created_at INTEGER NOT NULL,
                modified_at INTEGER NOT NULL,
                is_deleted INTEGER NOT NULL DEFAULT 0
            ) STRICT;
            CREATE TABLE access_rules (
                hub INTEGER NOT NULL REFERENCES hubs ON DELETE CASCADE,
                position INTEGER NOT NULL,
                name TEXT NOT NULL,
                rights INTEGER NOT NULL,
                sealed_primary_key BLOB NOT NULL,
                sealed_secondary_key BLOB NOT NULL,
                created_at INTEGER NOT NULL,
                modified_at INTEGER NOT NULL,
                PRIMARY KEY (hub, position)
            ) STRICT;
            CREATE TABLE namespace_rules (
                position INTEGER NOT NULL PRIMARY KEY,
                name TEXT NOT NULL,
                rights INTEGER NOT NULL,
                sealed_primary_key BLOB NOT NULL,
                sealed_secondary_key BLOB NOT NULL,
                created_at INTEGER NOT NULL,
                modified_at INTEGER NOT NULL
            ) STRICT;
            CREATE TABLE credentials (
                hub INTEGER NOT NULL REFERENCES hubs ON DELETE CASCADE,
                platform TEXT NOT NULL,
                sealed_properties BLOB NOT NULL,
                PRIMARY KEY (hub, platform)
            ) STRICT;
            """)

    /// Makes the table that names the hub of the app backend, in at most one row. The row stays when the hub is
    /// deleted. It then refers to no hub, because ids of hubs are never used again.
    static let backendHub = Migration(
        name: "backend hub",
        script: """
            CREATE TABLE backend_hub (hub INTEGER NOT NULL) STRICT;
            INSERT INTO backend_hub SELECT id FROM hubs
                WHERE is_deleted = 0 AND (SELECT count(*) FROM hubs WHERE is_deleted = 0) = 1;
            """)
}
