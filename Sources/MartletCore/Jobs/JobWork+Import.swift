import MartletModel

// An import applies the lines of a file in batches, each in one transaction with the progress of the job.
extension JobWork {
    /// The maximum number of lines in one transaction. The store makes shorter transactions while others wait to write.
    private static let batchLimit = 2000
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
            var rest = batch
            while !rest.isEmpty {
                try await apply(rest, of: content.blob.size)
                rest = rest.after(line: progress.cursor.line)
            }
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

    /// Applies a batch, or only its first lines, in one transaction. The transaction also stores the offset where these
    /// lines end, and the bytes to append to the output files. Afterwards appends those bytes to the files.
    /// - Parameter size: The size of the input file in bytes.
    private mutating func apply(_ batch: ImportBatch, of size: Int64) async throws(JobStop) {
        try await files?.synchronize(&progress.cursor)
        var start = progress
        start.job.updatedAt = parts.time.now
        let (jobs, now, before) = (parts.jobs, parts.time.now, start)
        let recorded = try await access { () async throws(StorageError) in
            try await jobs.apply(
                batch.changes, of: before.job.id, in: before.job.hub, after: before.cursor.line, at: now
            ) {
                batch.result($0, after: before, of: size)
            }
        }
        guard let recorded else { throw .gone }
        progress = recorded
        stored = recorded.cursor
        try await files?.write(progress.cursor.output.pending, to: .output)
        try await files?.write(progress.cursor.failed.pending, to: .failed)
    }
}

/// A batch of lines of an import, parsed as far as possible without the store.
struct ImportBatch: Sendable {
    private struct Line: Sendable {
        let number: Int64
        /// The offset of the first byte after the line.
        let end: Int64
        /// The error in the line, as a sentence; nil if the line has an element in `changes`. Those elements have the
        /// order of their lines.
        var error: String?
    }

    /// The reader, which is positioned after the last line of the batch.
    var reader: LineReader
    private(set) var changes: [RegistrationChange] = []
    private(set) var end: Int64
    private(set) var bytes = 0
    private var lines: [Line] = []
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
        case .tooLong:
            addLine(error: "The line has more than \(format.lengthLimit) bytes.")
        case .text(let text):
            let text = lastNumber == 1 && text.starts(with: [0xEF, 0xBB, 0xBF]) ? Array(text.dropFirst(3)) : text
            guard text.contains(where: { $0 != UInt8(ascii: " ") && $0 != UInt8(ascii: "\t") }) else { return }
            do throws(JobLineError) {
                changes.append(try format.change(text, job.kind, in: job.hub))
                addLine()
            } catch {
                addLine(error: error.sentence)
            }
        }
    }

    private mutating func addLine(error: String? = nil) {
        lines.append(Line(number: lastNumber, end: end, error: error))
    }

    /// Returns a batch with the lines after line `number`; it is empty if `number` is the last line.
    func after(line number: Int64) -> ImportBatch {
        var rest = ImportBatch(after: self)
        guard number < lastNumber else { return rest }
        let done = lines.prefix { $0.number <= number }
        rest.lines = Array(lines[done.endIndex...])
        rest.changes = Array(changes.dropFirst(done.count { $0.error == nil }))
        return rest
    }

    /// Returns the progress of the job up to the first line whose change has no result. Each line is reported with its
    /// number: in the output file if it succeeded, otherwise in the file of failed lines.
    /// - Parameters:
    ///   - results: The results of the changes, in their order. If only some changes were applied, these are the first
    ///     ones.
    ///   - size: The size of the input file in bytes.
    func result(
        _ results: [Result<Registration, RegistrationRefusal>], after progress: JobProgress, of size: Int64
    ) -> JobProgress {
        var progress = progress
        var (output, failed): ([UInt8], [UInt8]) = ([], [])
        var rest = results[...]
        var isWhole = true
        for line in lines {
            if let error = line.error {
                failed += "\(line.number)\t\(error)\n".utf8
            } else if let result = rest.popFirst() {
                switch result {
                case .success(let registration):
                    output += "\(line.number)\t\(progress.job.kind.result)\t\(registration.id)\n".utf8
                case .failure(let refusal): failed += "\(line.number)\t\(refusal.sentence)\n".utf8
                }
            } else {
                isWhole = false
                break
            }
            (progress.cursor.inputOffset, progress.cursor.line) = (line.end, line.number)
        }
        // Blank lines at the end of the batch are read, too.
        if isWhole { (progress.cursor.inputOffset, progress.cursor.line) = (end, lastNumber) }
        progress.job.progress = min(99, 100 * Double(progress.cursor.inputOffset) / Double(max(1, size)))
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
