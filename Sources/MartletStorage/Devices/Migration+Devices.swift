extension Migration {
    /// Channels keep the handle's key, and the handle only where it differs; both as `StoredHandle` writes them.
    ///
    /// Tags have a number per hub and platform. `tag_members` is clustered so that the registrations of a tag come in
    /// the order of their channels, and so can be merged; the name '*' stands for all registrations of the platform.
    static let devices = Migration(
        name: "devices",
        script: """
            CREATE TABLE channels (
                id INTEGER PRIMARY KEY AUTOINCREMENT,
                hub INTEGER NOT NULL REFERENCES hubs,
                platform TEXT NOT NULL,
                key ANY NOT NULL,
                handle ANY,
                registered_at INTEGER NOT NULL
            ) STRICT;
            CREATE UNIQUE INDEX channels_by_key ON channels (hub, key, platform);
            CREATE TABLE registrations (
                sequence INTEGER PRIMARY KEY AUTOINCREMENT,
                hub INTEGER NOT NULL REFERENCES hubs,
                id TEXT NOT NULL,
                channel INTEGER NOT NULL REFERENCES channels,
                version INTEGER NOT NULL,
                tags TEXT NOT NULL,
                created_at INTEGER NOT NULL,
                updated_at INTEGER NOT NULL,
                expires_at INTEGER
            ) STRICT;
            CREATE UNIQUE INDEX registrations_by_id ON registrations (hub, id);
            CREATE INDEX registrations_by_hub ON registrations (hub);
            CREATE INDEX registrations_by_channel ON registrations (channel);
            CREATE INDEX registrations_expiring ON registrations (channel, sequence, expires_at)
                WHERE expires_at IS NOT NULL;
            CREATE INDEX registrations_by_expiry ON registrations (expires_at) WHERE expires_at IS NOT NULL;
            CREATE TABLE tags (
                hub INTEGER NOT NULL,
                name TEXT NOT NULL,
                platform TEXT NOT NULL,
                id INTEGER NOT NULL,
                PRIMARY KEY (hub, name, platform)
            ) STRICT, WITHOUT ROWID;
            CREATE TABLE tag_counter (last INTEGER NOT NULL) STRICT;
            INSERT INTO tag_counter (last) VALUES (0);
            CREATE TABLE tag_members (
                tag INTEGER NOT NULL,
                channel INTEGER NOT NULL,
                registration INTEGER NOT NULL,
                PRIMARY KEY (tag, channel, registration)
            ) STRICT, WITHOUT ROWID;
            CREATE TABLE tombstones (
                sequence INTEGER PRIMARY KEY AUTOINCREMENT,
                hub INTEGER NOT NULL REFERENCES hubs ON DELETE CASCADE,
                id TEXT NOT NULL,
                gone_at INTEGER NOT NULL
            ) STRICT;
            CREATE UNIQUE INDEX tombstones_by_id ON tombstones (hub, id);
            """)
}
