extension Migration {
    /// Makes the tables of channels, registrations, installations and tags, and of the history.
    ///
    /// A channel's row has the key of its handle, and the handle itself only if it differs from the key. Both are in
    /// the format of `StoredHandle`. Ids of registrations are stored in the format of `StoredID`.
    ///
    /// Each tag of a hub has a number for each platform and each kind of registration (native or template). So a send
    /// to one kind never steps over the rows of the other kind. The primary key of `tag_members` puts the registrations
    /// of a tag in the order of their channels, so that the lists of several tags can be merged. The name '*' stands
    /// for all registrations of the platform and kind.
    ///
    /// The columns that refer to `contents` and `installations` are not foreign keys, because checking them would
    /// require an index for `contents`, and a look-up at every insert.
    ///
    /// `registration_history` has the former states of registrations that were changed or removed. Each of its rows
    /// counts as a use of the row's contents. `registration_history_start` has the number of the last state that was
    /// removed from the history.
    static let devices = Migration(
        name: "devices",
        script: """
            CREATE TABLE channels (
                id INTEGER PRIMARY KEY AUTOINCREMENT,
                hub INTEGER NOT NULL REFERENCES hubs,
                platform TEXT NOT NULL,
                key ANY NOT NULL,
                handle ANY,
                registered_at INTEGER NOT NULL,
                is_suspected INTEGER
            ) STRICT;
            CREATE UNIQUE INDEX channels_by_key ON channels (hub, key, platform);
            CREATE INDEX channels_suspected ON channels (hub, platform) WHERE is_suspected IS NOT NULL;
            CREATE TABLE contents (
                id INTEGER PRIMARY KEY AUTOINCREMENT,
                hub INTEGER NOT NULL REFERENCES hubs,
                content BLOB NOT NULL,
                uses INTEGER NOT NULL
            ) STRICT;
            CREATE UNIQUE INDEX contents_by_content ON contents (hub, content);
            CREATE TABLE installations (
                sequence INTEGER PRIMARY KEY AUTOINCREMENT,
                hub INTEGER NOT NULL REFERENCES hubs,
                id TEXT NOT NULL,
                version INTEGER NOT NULL,
                created_at INTEGER NOT NULL,
                updated_at INTEGER NOT NULL,
                expires_at INTEGER,
                document BLOB NOT NULL
            ) STRICT;
            CREATE UNIQUE INDEX installations_by_id ON installations (hub, id);
            CREATE INDEX installations_by_expiry ON installations (expires_at) WHERE expires_at IS NOT NULL;
            CREATE TABLE dead_slots (
                installation INTEGER NOT NULL REFERENCES installations ON DELETE CASCADE,
                slot TEXT NOT NULL,
                PRIMARY KEY (installation, slot)
            ) STRICT, WITHOUT ROWID;
            CREATE TABLE registrations (
                sequence INTEGER PRIMARY KEY AUTOINCREMENT,
                hub INTEGER NOT NULL REFERENCES hubs,
                id ANY NOT NULL,
                channel INTEGER NOT NULL REFERENCES channels,
                version INTEGER NOT NULL,
                tags TEXT NOT NULL,
                created_at INTEGER NOT NULL,
                updated_at INTEGER NOT NULL,
                expires_at INTEGER,
                template INTEGER,
                variables INTEGER,
                secondary_tile TEXT,
                installation INTEGER,
                slot TEXT
            ) STRICT;
            CREATE UNIQUE INDEX registrations_by_id ON registrations (hub, id);
            CREATE INDEX registrations_by_hub ON registrations (hub);
            CREATE INDEX registrations_by_channel ON registrations (channel);
            CREATE INDEX registrations_expiring ON registrations (channel, sequence, expires_at)
                WHERE expires_at IS NOT NULL;
            CREATE INDEX registrations_by_expiry ON registrations (expires_at) WHERE expires_at IS NOT NULL;
            CREATE UNIQUE INDEX registrations_by_installation ON registrations (installation, slot)
                WHERE installation IS NOT NULL;
            CREATE TABLE device_keys (
                registration INTEGER PRIMARY KEY REFERENCES registrations ON DELETE CASCADE,
                tag TEXT NOT NULL,
                public_key BLOB NOT NULL,
                auth_secret BLOB NOT NULL
            ) STRICT;
            CREATE TABLE tags (
                hub INTEGER NOT NULL,
                name TEXT NOT NULL,
                is_template INTEGER NOT NULL,
                platform TEXT NOT NULL,
                id INTEGER NOT NULL,
                PRIMARY KEY (hub, name, is_template, platform)
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
                id ANY NOT NULL,
                gone_at INTEGER NOT NULL
            ) STRICT;
            CREATE UNIQUE INDEX tombstones_by_id ON tombstones (hub, id);
            CREATE TABLE registration_history (
                change INTEGER PRIMARY KEY AUTOINCREMENT,
                hub INTEGER NOT NULL REFERENCES hubs,
                sequence INTEGER NOT NULL,
                id ANY NOT NULL,
                installation TEXT,
                platform TEXT NOT NULL,
                channel INTEGER NOT NULL,
                handle ANY NOT NULL,
                tags TEXT NOT NULL,
                template INTEGER,
                variables INTEGER,
                expires_at INTEGER,
                created_at INTEGER NOT NULL,
                ended_at INTEGER NOT NULL,
                cause TEXT NOT NULL
            ) STRICT;
            CREATE INDEX registration_history_by_id ON registration_history (hub, id);
            CREATE INDEX registration_history_by_installation ON registration_history (hub, installation)
                WHERE installation IS NOT NULL;
            CREATE TABLE registration_history_start (change INTEGER NOT NULL) STRICT;
            INSERT INTO registration_history_start (change) VALUES (0);
            """)
}
