extension Migration {
    /// Adds the console's operators. `roles` are words separated by spaces. Each row of `metric_hours` has the metrics
    /// of one hour as a JSON object.
    static let operators = Migration(
        name: "operators",
        script: """
            CREATE TABLE operators (
                folded_name TEXT NOT NULL PRIMARY KEY,
                name TEXT NOT NULL,
                password_hash TEXT,
                roles TEXT NOT NULL,
                is_disabled INTEGER NOT NULL,
                created_at INTEGER NOT NULL,
                signed_in_at INTEGER,
                settings TEXT NOT NULL
            ) STRICT, WITHOUT ROWID;
            CREATE TABLE operator_links (
                token_hash BLOB NOT NULL PRIMARY KEY,
                operator TEXT NOT NULL REFERENCES operators ON DELETE CASCADE,
                kind TEXT NOT NULL,
                expires_at INTEGER NOT NULL
            ) STRICT, WITHOUT ROWID;
            CREATE INDEX operator_links_by_operator ON operator_links (operator);
            CREATE TABLE operator_sessions (
                token_hash BLOB NOT NULL PRIMARY KEY,
                operator TEXT NOT NULL REFERENCES operators ON DELETE CASCADE,
                created_at INTEGER NOT NULL,
                used_at INTEGER NOT NULL,
                confirmed_at INTEGER NOT NULL,
                address TEXT NOT NULL,
                agent TEXT NOT NULL
            ) STRICT, WITHOUT ROWID;
            CREATE INDEX operator_sessions_by_operator ON operator_sessions (operator);
            CREATE TABLE operator_actions (
                id INTEGER PRIMARY KEY AUTOINCREMENT,
                at INTEGER NOT NULL,
                operator TEXT NOT NULL,
                address TEXT NOT NULL,
                role TEXT NOT NULL,
                action TEXT NOT NULL,
                hub TEXT,
                subject TEXT,
                answer INTEGER
            ) STRICT;
            CREATE INDEX operator_actions_by_operator ON operator_actions (operator, id);
            CREATE TABLE metric_hours (
                at INTEGER PRIMARY KEY,
                figures TEXT NOT NULL
            ) STRICT;
            """)
}
