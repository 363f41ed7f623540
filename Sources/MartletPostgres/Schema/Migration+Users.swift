extension Migration {
    /// Users belong to the namespace and to no hub, so these tables have no shard.
    static let users = Migration(
        name: "users",
        script: """
            CREATE TABLE users (
                folded_name bytea PRIMARY KEY,
                name bytea NOT NULL,
                password_hash text NOT NULL,
                roles text[] NOT NULL DEFAULT '{}',
                created_at int8 NOT NULL
            );
            CREATE TABLE sessions (
                token_hash bytea PRIMARY KEY,
                user_name bytea NOT NULL REFERENCES users ON DELETE CASCADE,
                created_at int8 NOT NULL,
                expires_at int8 NOT NULL
            );
            CREATE INDEX sessions_by_user ON sessions (user_name);
            CREATE INDEX sessions_by_expiry ON sessions (expires_at);
            CREATE TABLE sends (
                key bytea PRIMARY KEY,
                fingerprint bytea NOT NULL,
                payloads text[] NOT NULL,
                started_at int8 NOT NULL,
                is_complete bool NOT NULL
            );
            CREATE INDEX sends_by_start ON sends (started_at);
            CREATE TABLE metric_hours (
                hour int8 PRIMARY KEY,
                figures text NOT NULL
            );
            """)
}
