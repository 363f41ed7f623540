import MartletCore
import MartletModel

/// Stores and reads jobs with their cursors, on one connection.
struct JobTable {
    private let connection: Connection
    private let sealer: any Sealer

    init(_ connection: Connection, _ sealer: any Sealer) {
        self.connection = connection
        self.sealer = sealer
    }

    static let sealedColumns = [
        SealedColumn(table: "jobs", column: "sealed_addresses", context: "'jobs/' || hub || '/' || id")
    ]

    private static let columns = """
        id, hub, kind, sealed_addresses, output, directory, input_container, input_name, created_at, status, progress,
        failure, updated_at
        """

    func create(_ job: Job) throws(StorageError) {
        var addresses = ["output": job.outputURL]
        addresses["input"] = job.input?.url
        let sealed = try sealer.seal(StringMapCoding.encode(addresses), context: Self.context(job.hub, job.id))
        try connection.run(
            """
            INSERT INTO jobs (\(Self.columns), is_final)
            SELECT ?, id, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ? FROM hubs WHERE id = ? AND is_deleted = 0
            """, job.id, job.kind.rawValue, sealed, job.output.text, job.directory.text,
            job.input?.address.container.text, job.input?.address.name.text, job.createdAt, job.status.rawValue,
            Self.hundredths(job.progress), job.failure, job.updatedAt, job.status.isFinal, job.hub.rawValue)
        try connection.run(
            """
            DELETE FROM jobs WHERE sequence IN (SELECT sequence FROM jobs WHERE hub = ? AND is_final = 1
                ORDER BY sequence DESC LIMIT -1 OFFSET ?)
            """, job.hub.rawValue, JobProgress.finishedLimit)
    }

    func job(_ id: String, in hub: Hub.ID) throws(StorageError) -> Job? {
        try connection.first(
            "SELECT \(Self.columns) FROM jobs WHERE hub = ? AND id = ?", hub.rawValue, id
        ) { row throws(StorageError) in
            try job(row)
        }
    }

    func jobs(in hub: Hub.ID, limit: Int) throws(StorageError) -> [Job] {
        try connection.all(
            "SELECT \(Self.columns) FROM jobs WHERE hub = ? ORDER BY sequence DESC LIMIT ?", hub.rawValue, limit
        ) { row throws(StorageError) in
            try job(row)
        }
    }

    func unfinished() throws(StorageError) -> [JobProgress] {
        try connection.all(
            """
            SELECT \(Self.columns), input_offset, line, input_tag, last_sequence, count, output_bytes, pending_output,
                failed_bytes, pending_failed, is_written
            FROM jobs WHERE is_final = 0 ORDER BY sequence
            """
        ) { row throws(StorageError) in
            var cursor = JobCursor()
            cursor.inputOffset = row.integer(13)
            cursor.line = row.integer(14)
            cursor.inputTag = row.text(15)
            cursor.sequence = row.optionalInteger(16)
            cursor.count = row.integer(17)
            cursor.output = JobCursor.Written(bytes: row.integer(18), pending: row.bytes(19))
            cursor.failed = JobCursor.Written(bytes: row.integer(20), pending: row.bytes(21))
            cursor.isWritten = row.bool(22)
            return JobProgress(job: try job(row), cursor: cursor)
        }
    }

    /// Returns the number of lines that a job has processed; nil if there is no such job in a hub that is not deleted.
    func line(of id: String, in hub: Hub.ID) throws(StorageError) -> Int64? {
        try connection.first(
            "SELECT j.line FROM jobs j JOIN hubs h ON h.id = j.hub WHERE j.hub = ? AND j.id = ? AND h.is_deleted = 0",
            hub.rawValue, id
        ) { $0.integer(0) }
    }

    /// Stores the progress of a job.
    /// - Returns: Whether the job exists.
    func record(_ progress: JobProgress) throws(StorageError) -> Bool {
        guard try line(of: progress.job.id, in: progress.job.hub) != nil else { return false }
        let (job, cursor) = (progress.job, progress.cursor)
        try connection.run(
            """
            UPDATE jobs SET status = ?, is_final = ?, progress = ?, failure = ?, updated_at = ?, input_offset = ?,
                line = ?, input_tag = ?, last_sequence = ?, count = ?, output_bytes = ?, pending_output = ?,
                failed_bytes = ?, pending_failed = ?, is_written = ?
            WHERE hub = ? AND id = ?
            """, job.status.rawValue, job.status.isFinal, Self.hundredths(job.progress), job.failure, job.updatedAt,
            cursor.inputOffset,
            cursor.line, cursor.inputTag, cursor.sequence, cursor.count, cursor.output.bytes, cursor.output.pending,
            cursor.failed.bytes, cursor.failed.pending, cursor.isWritten, job.hub.rawValue, job.id)
        return true
    }

    func registrationCount(in hub: Hub.ID) throws(StorageError) -> Int64 {
        try connection.first("SELECT count(*) FROM registrations WHERE hub = ?", hub.rawValue) { $0.integer(0) } ?? 0
    }

    private func job(_ row: Statement) throws(StorageError) -> Job {
        let (id, hub) = (row.text(0), Hub.ID(rawValue: row.integer(1)))
        guard let sealed = sealer.open(row.bytes(3), context: Self.context(hub, id)),
            let addresses = StringMapCoding.decode(sealed)
        else {
            throw StorageError(
                .corrupt,
                "A job cannot be read: this is not the encryption key that the database was written with.")
        }
        guard let kind = Job.Kind(rawValue: row.text(2)), let output = ContainerName(row.text(4)),
            let directory = BlobName(row.text(5)), let status = Job.Status(rawValue: row.text(9))
        else { throw StorageError(.corrupt, "A job in the database is not one of this program; restore a backup.") }
        var input: Job.Input?
        if let container = row.optionalText(6).flatMap({ ContainerName($0) }),
            let name = row.optionalText(7).flatMap({ BlobName($0) })
        {
            input = Job.Input(url: addresses["input"] ?? "", address: BlobAddress(container, name))
        }
        var job = Job(
            id: id, hub: hub, kind: kind, outputURL: addresses["output"] ?? "", output: output, directory: directory,
            input: input, createdAt: row.timestamp(8))
        job.status = status
        job.progress = Double(row.integer(10)) / 100
        job.failure = row.optionalText(11)
        job.updatedAt = row.timestamp(12)
        return job
    }

    private static func hundredths(_ percent: Double) -> Int64 { Int64((percent * 100).rounded()) }

    private static func context(_ hub: Hub.ID, _ id: String) -> String { "jobs/\(hub.rawValue)/\(id)" }
}
