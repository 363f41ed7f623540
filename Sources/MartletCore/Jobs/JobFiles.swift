/// The two files that a job writes. They become visible under their names when the job ends.
struct JobFiles {
    private let output: any BlobUpload
    private let failed: any BlobUpload

    /// Opens the files to continue them at the cursor. Writes the pending bytes again, because these may not have
    /// reached the disk.
    init(_ progress: JobProgress, _ store: any ContainerStore) async throws(JobStop) {
        do throws(ContainerError) {
            output = try await Self.open(.output, progress.job, progress.cursor.output, store)
            failed = try await Self.open(.failed, progress.job, progress.cursor.failed, store)
        } catch {
            throw JobStop(error)
        }
    }

    private static func open(
        _ file: Job.File, _ job: Job, _ written: JobCursor.Written, _ store: any ContainerStore
    ) async throws(ContainerError) -> any BlobUpload {
        let upload = try await store.upload(try address(file, job), .resumable(key: key(file, job), at: written.bytes))
        if !written.pending.isEmpty { try await upload.write(written.pending) }
        return upload
    }

    func write(_ bytes: [UInt8], to file: Job.File) async throws(JobStop) {
        guard !bytes.isEmpty else { return }
        do throws(ContainerError) {
            try await upload(file).write(bytes)
        } catch {
            throw JobStop(error)
        }
    }

    /// Flushes both files to disk, and updates the cursor: its pending bytes are now on disk.
    func synchronize(_ cursor: inout JobCursor) async throws(JobStop) {
        for (file, written) in [(Job.File.output, \JobCursor.output), (.failed, \.failed)] {
            let count = cursor[keyPath: written].pending.count
            guard count > 0 else { continue }
            do throws(ContainerError) {
                try await upload(file).synchronize()
            } catch {
                throw JobStop(error)
            }
            cursor[keyPath: written] = JobCursor.Written(bytes: cursor[keyPath: written].bytes + Int64(count))
        }
    }

    /// Flushes the output file to disk.
    func synchronizeOutput() async throws(JobStop) {
        do throws(ContainerError) {
            try await output.synchronize()
        } catch {
            throw JobStop(error)
        }
    }

    private func upload(_ file: Job.File) -> any BlobUpload { file == .output ? output : failed }

    /// Commits the files, unless they were already committed before a kill.
    static func commit(_ progress: JobProgress, _ store: any ContainerStore) async throws(JobStop) {
        let written: [(Job.File, JobCursor.Written)] = [
            (.output, progress.cursor.output), (.failed, progress.cursor.failed),
        ]
        for (file, written) in written {
            do throws(ContainerError) {
                let address = try address(file, progress.job)
                if let there = try? await store.openBlob(address).blob,
                    there.size == written.bytes + Int64(written.pending.count)
                {
                    continue
                }
                _ = try await open(file, progress.job, written, store).commit(.none)
            } catch {
                throw JobStop(error)
            }
        }
    }

    /// Removes the unfinished files of a job that was deleted.
    static func abandon(_ job: Job, _ store: any ContainerStore) async {
        for file in [Job.File.output, .failed] {
            guard let address = try? address(file, job) else { continue }
            let upload = try? await store.upload(address, .resumable(key: key(file, job), at: 0))
            await upload?.abandon()
        }
    }

    private static func address(_ file: Job.File, _ job: Job) throws(ContainerError) -> BlobAddress {
        guard let name = BlobName(job.path(of: file)) else { throw .noBlob }
        return BlobAddress(job.output, name)
    }

    private static func key(_ file: Job.File, _ job: Job) -> String { "\(job.id)-\(file.rawValue)" }
}
