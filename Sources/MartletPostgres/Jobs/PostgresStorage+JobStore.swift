public import MartletCore
public import MartletModel
import Synchronization

extension PostgresStorage: JobStore {
    public func createJob(_ job: Job) async throws(StorageError) {
        let shard = Shard(job.hub)
        let sealed = try coding.sealedAddresses(of: job)
        let isComplete = Mutex(false)
        let hints: [HintText]
        do throws(StorageError) {
            hints = try await transaction { [nodes] connection, patience throws(DatabaseFailure) -> [HintText] in
                // The number of a job is one above the last, so no two jobs may be added at the same time. The second
                // lock keeps the owner of the hub from changing.
                var locking = Batch(Ordinals.locking) { $0.add(shard.number) }
                locking.add(SendOrdinals.locking) { $0.add(shard.number) }
                let found = try connection.run(locking, patience)[1]
                guard found.count == 1 else { return [] }
                let before = SendOrdinals(found[0])
                var numbers = before
                let change = SendChange.hub.count(in: &numbers, shard, by: nodes.incarnation)
                var batch = Batch(SendOrdinals.claiming) {
                    $0.add(shard.number)
                    numbers.addClaim(since: before, to: &$0)
                }
                batch.add(JobStatements.insert) {
                    $0.add(shard.number)
                    $0.add(job.id)
                    $0.add(job.kind.rawValue)
                    $0.add(sealed)
                    $0.add(job.output.text)
                    $0.add(job.directory.text)
                    $0.add(job.input?.address.container.text)
                    $0.add(job.input?.address.name.text)
                    $0.add(job.createdAt)
                    $0.add(job.status.rawValue)
                    $0.add(job.status.isFinal)
                    $0.add(JobChanges.hundredths(job.progress))
                    $0.add(job.failure)
                    $0.add(job.updatedAt)
                }
                batch.add(JobStatements.removeSurplus) { $0.add(shard.number) }
                try connection.run(batch, patience)
                isComplete.withLock { $0 = true }
                return change
            }
        } catch {
            // Only the COMMIT is left to fail, so the job may be stored. Nothing else would start it before a takeover.
            if isComplete.withLock({ $0 }), unknownWrites.add(to: shard) { readAgain(after: shard) }
            throw error
        }
        nodes.announce(hints)
    }

    public func job(_ id: String, in hub: Hub.ID) async throws(StorageError) -> Job? {
        let batch = Batch(JobStatements.find) {
            $0.add(Shard(hub).number)
            $0.add(id)
        }
        let rows = try await read(batch)[0]
        return rows.count == 1 ? try coding.job(rows[0]) : nil
    }

    public func jobs(in hub: Hub.ID, limit: Int) async throws(StorageError) -> [Job] {
        let batch = Batch(JobStatements.list) {
            $0.add(Shard(hub).number)
            $0.add(Int64(limit))
        }
        let rows = try await read(batch)[0]
        var jobs: [Job] = []
        for index in 0..<rows.count { jobs.append(try coding.job(rows[index])) }
        return jobs
    }

    public func unfinishedJobs() async throws(StorageError) -> [JobProgress] {
        let rows = try await read(Batch(JobStatements.unfinished) { $0.add(nodes.incarnation) })[0]
        var jobs: [JobProgress] = []
        for index in 0..<rows.count {
            jobs.append(JobProgress(job: try coding.job(rows[index]), cursor: JobCursor(rows[index])))
        }
        return jobs
    }

    @discardableResult
    public func record(_ progress: JobProgress) async throws(StorageError) -> Bool {
        let shard = Shard(progress.job.hub)
        let isThere = try await transaction {
            [nodes] connection, patience throws(DatabaseFailure) -> Result<Bool, StorageError> in
            let found = try connection.run(Batch(SendOrdinals.locking) { $0.add(shard.number) }, patience)[0]
            guard found.count == 1 else { return .success(false) }
            guard SendOrdinals(found[0]).node == nodes.incarnation else {
                nodes.countRefusal()
                return .failure(PostgresNodes.notOwner)
            }
            return .success(
                try connection.run(JobChanges.storing(progress, in: shard), patience)[0].changes == 1)
        }
        return try isThere.get()
    }

    public func apply(
        _ changes: [RegistrationChange], of job: String, in hub: Hub.ID, after line: Int64, at now: Timestamp,
        _ progress: @escaping @Sendable ([Result<Registration, RegistrationRefusal>]) -> JobProgress
    ) async throws(StorageError) -> JobProgress? {
        let shard = Shard(hub)
        let platforms = try await numbers(of: changes)
        // Deleted registrations may be of any platform, so the transaction gets the numbers of all platforms.
        let known = try await allPlatforms()
        var needs = DeviceNeeds()
        for change in changes { needs.add(change, platforms, known.flatMap(\.scopes), in: shard) }
        (needs.jobs, needs.node) = ([job], nodes.incarnation)
        needs.described = needs.registrations
        return try await write(to: shard, needs) { [nodes] set throws(StorageError) in
            guard set.exists, let stored = set.jobs[job] else { return nil }
            guard set.isOwner else {
                nodes.countRefusal()
                throw PostgresNodes.notOwner
            }
            // A COMMIT that was not answered in time may have been stored since.
            guard stored == line else { throw .jobHasGoneOn }
            var results: [Result<Registration, RegistrationRefusal>] = []
            for change in changes {
                switch set.apply(change, platforms, at: now) {
                case .success(let stored): results.append(.success(try set.registration(stored, known)))
                case .failure(let refusal): results.append(.failure(refusal))
                }
            }
            let reached = progress(results)
            set.progress[reached.job.id] = reached
            return reached
        }
    }

    /// Counts up to a million registrations. In a larger hub, the result is an estimate from the sequence numbers of
    /// the first million registrations.
    public func registrationCount(in hub: Hub.ID) async throws(StorageError) -> Int64 {
        let rows = try await readPage(Batch(JobStatements.count) { $0.add(Shard(hub).number) })[0]
        let (count, highest, last) = (rows[0].integer(0), rows[0].integer(1), rows[0].integer(2))
        guard count == JobStatements.countLimit, highest > 0 else { return count }
        return max(count, Int64(Double(count) * Double(last) / Double(highest)))
    }

    private var coding: JobCoding { JobCoding(sealer: sealer) }
}

extension DeviceSet {
    /// Returns a registration with its tags, template and push variables, which its row only refers to by number.
    fileprivate func registration(
        _ stored: StoredRegistration, _ platforms: [StoredPlatform]
    ) throws(StorageError) -> Registration {
        guard let platform = platforms.first(where: { $0.number == stored.scope.platform }) else {
            throw StorageError(.unavailable, "A registration of a new platform was just added. Try again.")
        }
        return try Registration(stored, platform: platform.id, tags: tagNames, contents: describedContents)
    }
}

/// Encodes and decodes jobs. The URLs of a job's blobs are sealed.
struct JobCoding {
    let sealer: any Sealer

    func sealedAddresses(of job: Job) throws(StorageError) -> [UInt8] {
        var addresses = ["output": job.outputURL]
        addresses["input"] = job.input?.url
        return try sealer.seal(ByteList.bytes(of: addresses), context: Self.context(job.hub, job.id))
    }

    /// - Throws: `StorageError` if the row was not written by this program, or if its URLs were sealed with another
    ///   key.
    func job(_ row: Row) throws(StorageError) -> Job {
        let (id, hub) = (row.text(0), Hub.ID(rawValue: Int64(row.integer32(1))))
        guard let sealed = sealer.open(row.bytes(3), context: Self.context(hub, id)),
            let addresses = ByteListReader.map(sealed)
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

    private static func context(_ hub: Hub.ID, _ id: String) -> String { "jobs/\(hub.rawValue)/\(id)" }
}

extension JobCursor {
    /// Reads the columns that follow the columns of the job.
    fileprivate init(_ row: Row) {
        self.init()
        inputOffset = row.integer(13)
        line = row.integer(14)
        inputTag = row.text(15)
        sequence = row.optionalInteger(16)
        count = row.integer(17)
        output = Written(bytes: row.integer(18), pending: row.bytes(19))
        failed = Written(bytes: row.integer(20), pending: row.bytes(21))
        isWritten = row.bool(22)
    }
}

enum JobStatements {
    private static let columns = """
        j.id, j.shard, j.kind, j.sealed_addresses, j.output, j.directory, j.input_container, j.input_name, j.created_at,
        j.status, j.progress, j.failure, j.updated_at
        """

    static let insert = Statement.hot(
        [
            .int4, .bytes, .text, .bytes, .bytes, .bytes, .bytes, .bytes, .int8, .text, .bool, .int8, .bytes, .int8,
        ],
        """
        INSERT INTO jobs (shard, sequence, id, kind, sealed_addresses, output, directory, input_container, input_name,
            created_at, status, is_final, progress, failure, updated_at)
        SELECT $1, coalesce((SELECT max(j.sequence) FROM jobs j WHERE j.shard = $1), 0) + 1, $2, $3, $4, $5, $6, $7, $8,
            $9, $10, $11, $12, $13, $14
        FROM ordinals o WHERE o.shard = $1
        """)
    static let removeSurplus = Statement.hot(
        [.int4],
        """
        DELETE FROM jobs WHERE shard = $1 AND sequence = ANY(ARRAY(
            SELECT j.sequence FROM jobs j WHERE j.shard = $1 AND j.is_final
            ORDER BY j.sequence DESC OFFSET \(JobProgress.finishedLimit)))
        """)
    static let find = Statement.hot([.int4, .bytes], "SELECT \(columns) FROM jobs j WHERE j.shard = $1 AND j.id = $2")
    static let list = Statement.hot(
        [.int4, .int8], "SELECT \(columns) FROM jobs j WHERE j.shard = $1 ORDER BY j.sequence DESC LIMIT $2")

    /// Reads the unfinished jobs of all shards of a node. Because it names no shard, it must run rarely.
    static let unfinished = Statement.rare(
        [.int8],
        """
        SELECT \(columns), j.input_offset, j.line, j.input_tag, j.last_sequence, j.count, j.output_bytes,
            j.pending_output, j.failed_bytes, j.pending_failed, j.is_written
        FROM jobs j JOIN send_ordinals o ON o.shard = j.shard WHERE NOT j.is_final AND o.node = $1
        ORDER BY j.created_at, j.shard, j.sequence
        """)

    static let countLimit = 1_000_000
    static let count = Statement.hot(
        [.int4],
        """
        SELECT count(*), coalesce(max(f.sequence), 0),
            coalesce((SELECT o.registrations FROM ordinals o WHERE o.shard = $1), 0)
        FROM (SELECT r.sequence FROM registrations r WHERE r.shard = $1 ORDER BY r.sequence LIMIT \(countLimit)) f
        """)
}
