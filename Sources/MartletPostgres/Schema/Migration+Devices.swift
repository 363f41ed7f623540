extension Migration {
    /// Each registration is one row, with its handle and the numbers of its tags. A channel gives a handle a number.
    /// The channel is found by the first half of the SHA-256 hash of the platform's number and the handle's key.
    ///
    /// The number of a tag has the shard in its upper half. The index of registrations by tag does not contain the
    /// shard, so the numbers of tags must be unique in the database. Texts that strangers choose are bytea, because
    /// PostgreSQL's type text cannot contain U+0000.
    ///
    /// `registered_at` of a channel is at least the time of the last write of each registration that has left the
    /// channel. For a registration that is still on the channel, this time is only in `updated_at` of the registration,
    /// so that a repeated write changes a single row.
    ///
    /// The planner is told that `shard` and `scope` have one distinct value each, which is not true. So it always finds
    /// a tag by the index of registrations by tag, however few hubs there are.
    static let devices = Migration(
        name: "devices",
        script: """
            CREATE TABLE tags (
                shard int4 NOT NULL,
                scope int4 NOT NULL,
                name text NOT NULL,
                id int8 NOT NULL,
                PRIMARY KEY (shard, name, scope)
            );
            CREATE UNIQUE INDEX tags_by_id ON tags (shard, id);
            CREATE TABLE channels (
                shard int4 NOT NULL,
                hash bytea NOT NULL,
                channel int8 NOT NULL,
                platform int4 NOT NULL,
                registered_at int8 NOT NULL DEFAULT 0,
                is_suspected bool NOT NULL DEFAULT false,
                PRIMARY KEY (shard, hash)
            ) WITH (fillfactor = 90);
            CREATE UNIQUE INDEX channels_by_number ON channels (shard, channel);
            CREATE INDEX channels_suspected ON channels (shard, platform, channel) WHERE is_suspected;
            CREATE TABLE former_channels (
                shard int4 NOT NULL,
                channel int8 NOT NULL,
                hash bytea NOT NULL,
                PRIMARY KEY (shard, channel)
            );
            CREATE INDEX former_channels_by_hash ON former_channels (shard, hash);
            CREATE TABLE contents (
                shard int4 NOT NULL,
                id int8 NOT NULL,
                hash bytea NOT NULL,
                content bytea NOT NULL,
                PRIMARY KEY (shard, id)
            );
            CREATE UNIQUE INDEX contents_by_hash ON contents (shard, hash);
            CREATE TABLE installations (
                shard int4 NOT NULL,
                sequence int8 NOT NULL,
                id bytea NOT NULL,
                version int8 NOT NULL,
                created_at int8 NOT NULL,
                updated_at int8 NOT NULL,
                expires_at int8,
                document bytea NOT NULL,
                dead_slots bytea[] NOT NULL DEFAULT '{}',
                PRIMARY KEY (shard, sequence)
            );
            CREATE UNIQUE INDEX installations_by_id ON installations (shard, id);
            CREATE INDEX installations_by_expiry ON installations (shard, expires_at) WHERE expires_at IS NOT NULL;
            CREATE TABLE registrations (
                shard int4 NOT NULL,
                scope int4 NOT NULL,
                channel int8 NOT NULL,
                sequence int8 NOT NULL,
                id bytea NOT NULL,
                handle bytea NOT NULL,
                tags int8[] NOT NULL,
                spelled_tags text,
                version int8 NOT NULL,
                created_at int8 NOT NULL,
                updated_at int8 NOT NULL,
                expires_at int8,
                template int8,
                variables int8,
                secondary_tile bytea,
                installation int8,
                slot bytea,
                PRIMARY KEY (shard, scope, channel, sequence)
            ) WITH (fillfactor = 85);
            ALTER TABLE registrations ALTER COLUMN shard SET (n_distinct = 1);
            ALTER TABLE registrations ALTER COLUMN scope SET (n_distinct = 1);
            ALTER TABLE registrations ALTER COLUMN tags SET STATISTICS 1000;
            CREATE UNIQUE INDEX registrations_by_id ON registrations (shard, id);
            CREATE UNIQUE INDEX registrations_by_sequence ON registrations (shard, sequence);
            CREATE INDEX registrations_by_tag ON registrations USING gin (tags)
                WITH (fastupdate = on, gin_pending_list_limit = 1024);
            CREATE INDEX registrations_by_expiry ON registrations (shard, expires_at) WHERE expires_at IS NOT NULL;
            CREATE UNIQUE INDEX registrations_by_installation ON registrations (shard, installation, slot)
                WHERE installation IS NOT NULL;
            CREATE TABLE device_keys (
                shard int4 NOT NULL,
                registration int8 NOT NULL,
                tag text NOT NULL,
                public_key bytea NOT NULL,
                auth_secret bytea NOT NULL,
                PRIMARY KEY (shard, registration)
            );
            CREATE TABLE tombstones (
                shard int4 NOT NULL,
                id bytea NOT NULL,
                gone_at int8 NOT NULL,
                PRIMARY KEY (shard, id)
            );
            CREATE INDEX tombstones_by_time ON tombstones (shard, gone_at);
            CREATE TABLE registration_history (
                shard int4 NOT NULL,
                change int8 NOT NULL,
                sequence int8 NOT NULL,
                id bytea NOT NULL,
                installation bytea,
                platform int4 NOT NULL,
                channel int8 NOT NULL,
                handle bytea NOT NULL,
                tags int8[] NOT NULL,
                spelled_tags text,
                template int8,
                variables int8,
                expires_at int8,
                created_at int8 NOT NULL,
                ended_at int8 NOT NULL,
                cause text NOT NULL,
                PRIMARY KEY (shard, change)
            );
            CREATE INDEX registration_history_by_id ON registration_history (shard, id);
            CREATE INDEX registration_history_by_installation ON registration_history (shard, installation)
                WHERE installation IS NOT NULL;
            """)
}
