extension Migration {
    /// Messages stand apart, so that a step of a delivery does not write them again.
    static let notifications = Migration(
        name: "notifications",
        script: """
            CREATE TABLE notifications (
                sequence INTEGER PRIMARY KEY AUTOINCREMENT,
                hub INTEGER NOT NULL REFERENCES hubs ON DELETE CASCADE,
                id BLOB NOT NULL,
                platform TEXT NOT NULL,
                expression TEXT,
                handle TEXT,
                accepted_at INTEGER NOT NULL,
                expires_at INTEGER NOT NULL,
                last_channel INTEGER NOT NULL,
                state TEXT NOT NULL,
                is_final INTEGER NOT NULL,
                cursor INTEGER NOT NULL,
                is_fanned_out INTEGER NOT NULL,
                started_at INTEGER,
                ended_at INTEGER
            ) STRICT;
            CREATE UNIQUE INDEX notifications_by_id ON notifications (hub, id);
            CREATE INDEX notifications_unfinished ON notifications (sequence) WHERE is_final = 0;
            CREATE TABLE messages (
                notification INTEGER PRIMARY KEY REFERENCES notifications ON DELETE CASCADE,
                body BLOB NOT NULL,
                fields BLOB NOT NULL
            ) STRICT;
            CREATE TABLE outcome_counts (
                notification INTEGER NOT NULL REFERENCES notifications ON DELETE CASCADE,
                outcome TEXT NOT NULL,
                count INTEGER NOT NULL,
                PRIMARY KEY (notification, outcome)
            ) STRICT, WITHOUT ROWID;
            CREATE TABLE refusals (
                notification INTEGER NOT NULL REFERENCES notifications ON DELETE CASCADE,
                channel INTEGER NOT NULL,
                outcome TEXT NOT NULL,
                reason TEXT NOT NULL,
                refused_at INTEGER NOT NULL,
                PRIMARY KEY (notification, channel)
            ) STRICT, WITHOUT ROWID;
            CREATE TABLE retries (
                notification INTEGER NOT NULL REFERENCES notifications ON DELETE CASCADE,
                channel INTEGER NOT NULL,
                attempts INTEGER NOT NULL,
                due_at INTEGER NOT NULL,
                outcome TEXT NOT NULL,
                reason TEXT NOT NULL,
                PRIMARY KEY (notification, channel)
            ) STRICT, WITHOUT ROWID;
            CREATE INDEX retries_by_time ON retries (notification, due_at);
            """)
}
