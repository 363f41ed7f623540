import MartletCore
import MartletModel

/// The statements that store the progress of jobs in the same transaction as writes of devices.
enum JobChanges {
    /// Finds out which jobs exist, how many lines they have processed, and whether a node owns their hub. An unfinished
    /// job is only removed together with its hub.
    static let known = Statement.hot(
        [.int4, .bytesArray, .int8],
        """
        SELECT j.id, EXISTS (SELECT 1 FROM send_ordinals o WHERE o.shard = $1 AND o.node = $3) AS is_own, j.line
        FROM jobs j
        WHERE j.shard = $1 AND j.id = ANY($2)
        """)

    /// Locks the owner of the shard until the COMMIT, so that the owner cannot change. Fails with `SQLState.stale` if
    /// the owner is not the given node.
    static let owned = Statement.hot(
        [.int4, .int8],
        """
        WITH owned AS MATERIALIZED (
            SELECT 1 FROM send_ordinals WHERE shard = $1 AND node = $2 FOR SHARE
        )
        SELECT 1 / count(*)::int4 FROM owned
        """)

    /// Reads the names of the tags of registrations.
    static let tagNames = Statement.hot(
        [.int4, .bytesArray],
        """
        SELECT t.id, t.name FROM tags t WHERE t.shard = $1 AND t.id = ANY(ARRAY(
            SELECT DISTINCT u.id FROM registrations r CROSS JOIN unnest(r.tags) u (id)
            WHERE r.shard = $1 AND r.id = ANY($2)))
        """)

    /// Reads the templates and push variables of registrations.
    static let contents = Statement.hot(
        [.int4, .bytesArray],
        """
        SELECT c.id, c.content FROM contents c WHERE c.shard = $1 AND c.id = ANY(ARRAY(
            SELECT u.id FROM registrations r CROSS JOIN LATERAL unnest(ARRAY[r.template, r.variables]) u (id)
            WHERE r.shard = $1 AND r.id = ANY($2) AND u.id IS NOT NULL))
        """)

    /// Returns the statement that stores the progress of a job. It writes nothing if the job does not exist, or if its
    /// hub is deleted.
    static func storing(_ progress: JobProgress, in shard: Shard) -> Batch {
        let (job, cursor) = (progress.job, progress.cursor)
        return Batch(store) {
            $0.add(shard.number)
            $0.add(job.id)
            $0.add(job.status.rawValue)
            $0.add(job.status.isFinal)
            $0.add(hundredths(job.progress))
            $0.add(job.failure)
            $0.add(job.updatedAt)
            $0.add(cursor.inputOffset)
            $0.add(cursor.line)
            $0.add(cursor.inputTag)
            $0.add(cursor.sequence)
            $0.add(cursor.count)
            $0.add(cursor.output.bytes)
            $0.add(cursor.output.pending)
            $0.add(cursor.failed.bytes)
            $0.add(cursor.failed.pending)
            $0.add(cursor.isWritten)
        }
    }

    static func hundredths(_ percent: Double) -> Int64 { Int64((percent * 100).rounded()) }

    private static let store = Statement.hot(
        [
            .int4, .bytes, .text, .bool, .int8, .bytes, .int8, .int8, .int8, .bytes, .int8, .int8, .int8, .bytes, .int8,
            .bytes, .bool,
        ],
        """
        UPDATE jobs SET status = $3, is_final = $4, progress = $5, failure = $6, updated_at = $7, input_offset = $8,
            line = $9, input_tag = $10, last_sequence = $11, count = $12, output_bytes = $13, pending_output = $14,
            failed_bytes = $15, pending_failed = $16, is_written = $17
        WHERE shard = $1 AND id = $2 AND EXISTS (SELECT 1 FROM ordinals o WHERE o.shard = $1)
        """)
}
