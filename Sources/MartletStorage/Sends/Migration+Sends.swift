extension Migration {
    /// `payloads` contains the ids of a send's payloads, each followed by a comma; it is empty if there are none.
    static let sends = Migration(
        name: "sends",
        script: """
            CREATE TABLE sends (
                key BLOB NOT NULL PRIMARY KEY,
                fingerprint BLOB NOT NULL,
                payloads TEXT NOT NULL,
                started_at INTEGER NOT NULL,
                is_complete INTEGER NOT NULL
            ) STRICT, WITHOUT ROWID;
            CREATE INDEX sends_by_time ON sends (started_at);
            """)
}
