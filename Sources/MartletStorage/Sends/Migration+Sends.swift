extension Migration {
    /// `payloads` has an element for each push of a send, followed by a comma: the id of the push's payload, or nothing
    /// if the push contains its whole content.
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
