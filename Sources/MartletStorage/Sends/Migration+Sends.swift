extension Migration {
    /// Makes the table of send records (`SendRecord`). `payloads` has one element for each push of a send: the id of
    /// the push's payload, or an empty text if the push contains its whole content. Each element is followed by a
    /// comma.
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
