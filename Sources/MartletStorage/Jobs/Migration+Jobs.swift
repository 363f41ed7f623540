extension Migration {
    /// Makes the table of jobs.
    ///
    /// The URLs of a job's blobs are signed and therefore secret, so `sealed_addresses` contains them encrypted.
    /// `progress` is in hundredths of a percent. `pending_output` and `pending_failed` contain text that may not be in
    /// the job's files yet.
    static let jobs = Migration(
        name: "jobs",
        script: """
            CREATE TABLE jobs (
                sequence INTEGER PRIMARY KEY AUTOINCREMENT,
                id TEXT NOT NULL,
                hub INTEGER NOT NULL REFERENCES hubs,
                kind TEXT NOT NULL,
                sealed_addresses BLOB NOT NULL,
                output TEXT NOT NULL,
                directory TEXT NOT NULL,
                input_container TEXT,
                input_name TEXT,
                created_at INTEGER NOT NULL,
                status TEXT NOT NULL,
                is_final INTEGER NOT NULL,
                progress INTEGER NOT NULL,
                failure TEXT,
                updated_at INTEGER NOT NULL,
                input_offset INTEGER NOT NULL DEFAULT 0,
                line INTEGER NOT NULL DEFAULT 0,
                input_tag TEXT NOT NULL DEFAULT '',
                last_sequence INTEGER,
                count INTEGER NOT NULL DEFAULT 0,
                output_bytes INTEGER NOT NULL DEFAULT 0,
                pending_output BLOB NOT NULL DEFAULT x'',
                failed_bytes INTEGER NOT NULL DEFAULT 0,
                pending_failed BLOB NOT NULL DEFAULT x'',
                is_written INTEGER NOT NULL DEFAULT 0,
                UNIQUE (hub, id)
            ) STRICT;
            CREATE INDEX jobs_of_hub ON jobs (hub, is_final, sequence);
            CREATE INDEX unfinished_jobs ON jobs (sequence) WHERE is_final = 0;
            """)
}
