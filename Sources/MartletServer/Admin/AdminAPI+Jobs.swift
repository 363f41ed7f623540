import MartletCore
import MartletHTTP
import MartletModel

// Routes with which the console shows import and export jobs. Jobs are created through the hub's REST API.
extension AdminAPI {
    private static let jobLimit = 50
    private static let pieceSize: Int64 = 256 << 10

    func addJobs(to router: inout Router) {
        router.on(.get, "/hubs/{name}/jobs") { _, match in
            await withHub(match) { hub throws(StorageError) in
                let found = try await jobs.jobs(in: hub.id, limit: Self.jobLimit)
                var list: [JSON] = []
                for job in found { list.append(Self.json(job, failedBytes: await failedLines(of: job)?.blob.size)) }
                return HTTPResponse(.ok, json: ["jobs": .array(list), "limit": .integer(Int64(Self.jobLimit))])
            }
        }
        router.on(.get, "/hubs/{name}/jobs/{job}/failed") { _, match in
            await withHub(match) { hub throws(StorageError) in
                guard let job = try await jobs.job(match["job"], in: hub.id) else {
                    return HTTPResponse(.notFound, error: "There is no such job.")
                }
                guard let lines = await failedLines(of: job) else {
                    return HTTPResponse(
                        .notFound, error: "The job has no file of failed lines, or its container was removed.")
                }
                return Self.answer(lines)
            }
        }
    }

    /// Returns the file with the lines that a job could not process.
    ///
    /// The result is nil before the job has ended. It is also nil if there is no such file, for example because the
    /// file's container was removed.
    private func failedLines(of job: Job) async -> (any BlobContent)? {
        guard job.status.isFinal, let name = BlobName(job.path(of: .failed)) else { return nil }
        return try? await containers.store.openBlob(BlobAddress(job.output, name))
    }

    private static func answer(_ lines: any BlobContent) -> HTTPResponse {
        HTTPResponse(
            .ok,
            fields: [
                "content-type": "text/plain; charset=utf-8", "cache-control": "no-store",
                "content-disposition": "attachment; filename=\"Failed.txt\"",
            ],
            body: .stream(length: Int(lines.blob.size)) { writer in
                var offset: Int64 = 0
                while offset < lines.blob.size {
                    let piece = try await lines.read(at: offset, count: Int(min(pieceSize, lines.blob.size - offset)))
                    if piece.isEmpty { return }
                    try await writer.write(piece)
                    offset += Int64(piece.count)
                }
            })
    }

    /// Returns a job as JSON.
    ///
    /// The JSON contains the paths of the job's files, but not their signed URLs, because anybody with a signed URL can
    /// read the file.
    private static func json(_ job: Job, failedBytes: Int64?) -> JSON {
        [
            "id": .string(job.id), "kind": .string(job.kind.rawValue), "status": .string(job.status.rawValue),
            "progress": .double(job.progress), "failure": job.failure.map(JSON.string) ?? .null,
            "container": .string(job.output.text), "output": .string(job.path(of: .output)),
            "input": job.input.map { .string("\($0.address.container.text)/\($0.address.name)") } ?? .null,
            "failedBytes": failedBytes.map(JSON.integer) ?? .null, "createdAt": .string(job.createdAt.iso8601),
            "updatedAt": .string(job.updatedAt.iso8601),
        ]
    }
}
