extension Migration {
    /// The URLs of a job's blobs are signed, and therefore secret. Progress is in hundredths of a percent. `pending`
    /// columns contain text that may not be in the job's files yet.
    ///
    /// The number of a job (`sequence`) is one more than the last number of its shard. Jobs are added under the lock of
    /// the shard, and the last job is only removed together with its hub.
    static let jobs = Migration(
        name: "jobs",
        script: """
            CREATE TABLE jobs (
                shard int4 NOT NULL,
                sequence int8 NOT NULL,
                id bytea NOT NULL,
                kind text NOT NULL,
                sealed_addresses bytea NOT NULL,
                output bytea NOT NULL,
                directory bytea NOT NULL,
                input_container bytea,
                input_name bytea,
                created_at int8 NOT NULL,
                status text NOT NULL,
                is_final bool NOT NULL,
                progress int8 NOT NULL,
                failure bytea,
                updated_at int8 NOT NULL,
                input_offset int8 NOT NULL DEFAULT 0,
                line int8 NOT NULL DEFAULT 0,
                input_tag bytea NOT NULL DEFAULT '',
                last_sequence int8,
                count int8 NOT NULL DEFAULT 0,
                output_bytes int8 NOT NULL DEFAULT 0,
                pending_output bytea NOT NULL DEFAULT '',
                failed_bytes int8 NOT NULL DEFAULT 0,
                pending_failed bytea NOT NULL DEFAULT '',
                is_written bool NOT NULL DEFAULT false,
                PRIMARY KEY (shard, sequence)
            );
            CREATE UNIQUE INDEX jobs_by_id ON jobs (shard, id);
            CREATE INDEX jobs_of_hub ON jobs (shard, is_final, sequence);
            CREATE INDEX unfinished_jobs ON jobs (created_at) WHERE NOT is_final;
            """)
}
