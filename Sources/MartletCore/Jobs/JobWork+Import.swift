import MartletModel

// An import applies the lines of a file in batches, each in one transaction with the progress of the job.
extension JobWork {
    /// The maximum number of lines in one transaction.
    private static let batchLimit = 5000
    private static let batchBytes = 4 << 20

    mutating func importLines() async throws(JobStop) {
        guard let input = progress.job.input else { throw .failed("The job has no file to read.") }
        let content: any BlobContent
        do throws(ContainerError) {
            content = try await parts.containers.openBlob(input.address)
        } catch {
            throw JobStop(error)
        }
        if progress.cursor.inputTag.isEmpty { progress.cursor.inputTag = content.blob.entityTag }
        guard progress.cursor.inputTag == content.blob.entityTag else {
            throw .failed("The file was replaced while the job was reading it.")
        }
        progress.job.status = .running
        let (job, lines) = (progress.job, parts.lines)
        var batch = ImportBatch(
            progress.cursor, LineReader(content, from: progress.cursor.inputOffset, lengthLimit: lines.lengthLimit))
        batch = try await Self.read(after: batch, job, lines).get()
        while !batch.isEmpty {
            let before = batch
            // Parsing takes a third of the time and does not need the store, so the next batch is parsed while the
            // previous batch is being stored.
            async let next = Self.read(after: before, job, lines)
            try await apply(batch, of: content.blob.size)
            batch = try await next.get()
        }
        try await files?.synchronize(&progress.cursor)
    }

    private static func read(
        after last: ImportBatch, _ job: Job, _ lines: any JobLines
    ) async -> Result<ImportBatch, JobStop> {
        var batch = ImportBatch(after: last)
        do throws(ContainerError) {
            while batch.count < batchLimit, batch.bytes < batchBytes, let index = try await batch.reader.next() {
                batch.add(index, job, lines)
            }
        } catch {
            return .failure(JobStop(error))
        }
        return .success(batch)
    }

    /// Stores in one transaction the results of a batch, the offset at which the batch ends and the bytes to append to
    /// the files; then appends these bytes to the files.
    private mutating func apply(_ batch: ImportBatch, of size: Int64) async throws(JobStop) {
        try await files?.synchronize(&progress.cursor)
        var start = progress
        start.job.progress = min(99, 100 * Double(batch.end) / Double(max(1, size)))
        start.job.updatedAt = parts.time.now
        let (jobs, now, before) = (parts.jobs, parts.time.now, start)
        let recorded = try await stored { () async throws(StorageError) in
            try await jobs.apply(batch.changes, of: before.job.id, in: before.job.hub, at: now) {
                batch.result($0, after: before)
            }
        }
        guard let recorded else { throw .gone }
        progress = recorded
        try await files?.write(progress.cursor.output.pending, to: .output)
        try await files?.write(progress.cursor.failed.pending, to: .failed)
    }
}

/// A batch of lines of an import, parsed as far as possible without the store.
struct ImportBatch: Sendable {
    private enum Line: Sendable {
        /// A valid line, with the index of its change in `changes`.
        case change(Int)
        case failed(String)
    }

    /// The reader, which is positioned after the last line of the batch.
    var reader: LineReader
    private(set) var changes: [RegistrationChange] = []
    private(set) var end: Int64
    private(set) var bytes = 0
    private var lines: [(number: Int64, line: Line)] = []
    private var lastNumber: Int64

    /// Creates an empty batch at the cursor, before the first line is read.
    init(_ cursor: JobCursor, _ reader: LineReader) {
        self.reader = reader
        end = cursor.inputOffset
        lastNumber = cursor.line
    }

    init(after last: ImportBatch) {
        reader = last.reader
        end = last.end
        lastNumber = last.lastNumber
    }

    var count: Int { lines.count }

    /// True if the batch is empty, which means that the reader is at the end of the file.
    var isEmpty: Bool { bytes == 0 && lines.isEmpty }

    /// Adds a line to the batch. Blank lines are counted and otherwise ignored.
    mutating func add(_ read: LineReader.Item, _ job: Job, _ format: any JobLines) {
        bytes += Int(read.end - end)
        end = read.end
        lastNumber += 1
        switch read.line {
        case .tooLong: lines.append((lastNumber, .failed("The line has more than \(format.lengthLimit) bytes.")))
        case .text(let text):
            let text = lastNumber == 1 && text.starts(with: [0xEF, 0xBB, 0xBF]) ? Array(text.dropFirst(3)) : text
            guard text.contains(where: { $0 != UInt8(ascii: " ") && $0 != UInt8(ascii: "\t") }) else { return }
            do throws(JobLineError) {
                changes.append(try format.change(text, job.kind, in: job.hub))
                lines.append((lastNumber, .change(changes.count - 1)))
            } catch {
                lines.append((lastNumber, .failed(error.sentence)))
            }
        }
    }

    /// Returns the progress of the job after this batch. Each line is reported with its number: in the output file if
    /// it succeeded, otherwise in the file of failed lines.
    func result(
        _ results: [Result<Registration, RegistrationRefusal>], after progress: JobProgress
    ) -> JobProgress {
        var progress = progress
        var output: [UInt8] = []
        var failed: [UInt8] = []
        for (number, line) in lines {
            switch line {
            case .failed(let sentence): failed += "\(number)\t\(sentence)\n".utf8
            case .change(let index):
                switch results[index] {
                case .success(let registration):
                    output += "\(number)\t\(progress.job.kind.result)\t\(registration.id)\n".utf8
                case .failure(let refusal): failed += "\(number)\t\(refusal.sentence)\n".utf8
                }
            }
        }
        progress.cursor.inputOffset = end
        progress.cursor.line = lastNumber
        progress.cursor.output.pending = output
        progress.cursor.failed.pending = failed
        return progress
    }
}

extension Job.Kind {
    /// The word for a line that succeeded, as written to the output file.
    fileprivate var result: String {
        switch self {
        case .export: "Exported"
        case .importCreate: "Created"
        case .importUpdate: "Updated"
        case .importDelete: "Deleted"
        case .importUpsert: "Upserted"
        }
    }
}
