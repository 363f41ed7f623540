extension Migration {
    /// The operators of the console, their links, sessions, second factors and the audit log. They belong to the
    /// namespace and to no hub, so these tables have no shard. Texts that people and browsers wrote are bytea, because
    /// PostgreSQL's type text cannot contain U+0000.
    static let operators = Migration(
        name: "operators",
        script: """
            CREATE TABLE operators (
                folded_name bytea PRIMARY KEY,
                name bytea NOT NULL,
                password_hash text,
                roles text[] NOT NULL,
                is_disabled bool NOT NULL,
                created_at int8 NOT NULL,
                signed_in_at int8,
                settings bytea NOT NULL,
                issuer bytea,
                subject bytea
            );
            CREATE UNIQUE INDEX operators_by_identity ON operators (issuer, subject) WHERE subject IS NOT NULL;
            CREATE TABLE operator_links (
                token_hash bytea PRIMARY KEY,
                operator bytea NOT NULL REFERENCES operators ON DELETE CASCADE,
                kind text NOT NULL,
                expires_at int8 NOT NULL
            );
            CREATE INDEX operator_links_by_operator ON operator_links (operator);
            CREATE INDEX operator_links_by_expiry ON operator_links (expires_at);
            CREATE TABLE operator_sessions (
                token_hash bytea PRIMARY KEY,
                operator bytea NOT NULL REFERENCES operators ON DELETE CASCADE,
                created_at int8 NOT NULL,
                used_at int8 NOT NULL,
                confirmed_at int8 NOT NULL,
                address bytea NOT NULL,
                agent bytea NOT NULL
            );
            CREATE INDEX operator_sessions_by_operator ON operator_sessions (operator);
            CREATE TABLE operator_factors (
                operator bytea PRIMARY KEY REFERENCES operators ON DELETE CASCADE,
                sealed_secret bytea NOT NULL,
                confirmed_at int8,
                last_step int8 NOT NULL DEFAULT 0
            );
            CREATE TABLE operator_recovery_codes (
                operator bytea NOT NULL REFERENCES operators ON DELETE CASCADE,
                hash bytea NOT NULL,
                PRIMARY KEY (operator, hash)
            );
            CREATE TABLE operator_actions (
                id int8 PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
                at int8 NOT NULL,
                operator bytea NOT NULL,
                address bytea NOT NULL,
                role text NOT NULL,
                action bytea NOT NULL,
                hub bytea,
                subject bytea,
                answer int8
            );
            CREATE INDEX operator_actions_by_operator ON operator_actions (operator, id);
            """)
}
