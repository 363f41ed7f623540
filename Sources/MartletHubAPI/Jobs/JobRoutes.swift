import MartletCore
import MartletHTTP
import MartletModel

/// Serves import and export jobs (NotificationHubs.md, section 9).
struct JobRoutes: Sendable {
    private static let listLimit = 1000
    /// A part of the `User-Agent` of the Java client. That client does not know the job type `Job.Kind.importUpsert`,
    /// and fails to parse any listing that contains it (NotificationHubs.md, section 9.1).
    private static let javaClient = "JavaSDK"

    let jobs: JobRunner
    let signer: URLSigner
    let time: any TimeSource

    func add(to routes: inout HubRoutes) {
        routes.on(.post, "/{hub}/jobs", needs: .manage, bodyLimit: JobDocument.sizeLimit, post)
        routes.on(.get, "/{hub}/jobs", needs: .manage, list)
        routes.on(.get, "/{hub}/jobs/{id}", needs: .manage, read)
    }

    @Sendable private func post(_ call: HubCall) async throws(HubAPIError) -> HTTPResponse {
        let job = try makeJob(try JobDocument(call.request.body), call)
        try await stored { () async throws(StorageError) in try await jobs.accept(job) }
        var fields = Self.entryFields
        fields["location"] = url(of: job, call)
        return HTTPResponse(.created, fields: fields, body: .bytes(entry(job, call).document()))
    }

    private func makeJob(_ document: JobDocument, _ call: HubCall) throws(HubAPIError) -> Job {
        let output = try location(document.outputURL, "OutputContainerUri", needs: .write, call)
        guard output.blob == nil else { throw .badRequest("The OutputContainerUri is a blob and not a container") }
        var input: Job.Input?
        if let importURL = document.importURL {
            let location = try location(importURL, "ImportFileUri", needs: .read, call)
            guard let blob = location.blob else { throw .badRequest("The ImportFileUri is a container and not a blob") }
            input = Job.Input(url: importURL, address: BlobAddress(location.container, blob))
        }
        let id = Self.newID(at: time.now)
        guard let directory = BlobName("\(call.hub.name)/\(id)") else { throw .internalError }
        return Job(
            id: id, hub: call.hub.id, kind: document.kind, outputURL: document.outputURL, output: output.container,
            directory: directory, input: input, createdAt: time.now)
    }

    private func location(
        _ text: String, _ name: String, needs right: StorageRights, _ call: HubCall
    ) throws(HubAPIError) -> StorageURL {
        try StorageURL(text, name, needs: right, hosts: call.hosts, signer: signer, now: time.now)
    }

    @Sendable private func read(_ call: HubCall) async throws(HubAPIError) -> HTTPResponse {
        let found = try await stored { () async throws(StorageError) in
            try await jobs.job(call.match["id"], in: call.hub.id)
        }
        guard let job = found else { throw .jobNotFound }
        return HTTPResponse(.ok, fields: Self.entryFields, body: .bytes(entry(job, call).document()))
    }

    @Sendable private func list(_ call: HubCall) async throws(HubAPIError) -> HTTPResponse {
        let isJava = call.request.fields["user-agent"]?.contains(Self.javaClient) == true
        let found = try await stored { () async throws(StorageError) in
            try await jobs.jobs(in: call.hub.id, limit: Self.listLimit)
        }
        let url = call.url("jobs") + call.versionQuery
        var writer = XMLWriter(reserving: 512 + 2048 * found.count)
        writer.element("feed", ["xmlns": XMLNamespace.atom]) { feed in
            feed.element("title", ["type": "text"], text: "Jobs")
            feed.element("id", text: url)
            feed.element("updated", text: (found.map(\.updatedAt).max() ?? call.hub.createdAt).iso8601)
            feed.emptyElement("link", ["rel": "self", "href": url])
            for job in found where !isJava || job.kind != .importUpsert { entry(job, call).append(to: &feed) }
        }
        return HTTPResponse(
            .ok, fields: ["content-type": "application/atom+xml; type=feed; charset=utf-8"], body: .bytes(writer.bytes))
    }

    private static let entryFields: HTTPFields = ["content-type": "application/atom+xml; type=entry; charset=utf-8"]

    private func entry(_ job: Job, _ call: HubCall) -> JobEntry { JobEntry(job: job, url: url(of: job, call)) }

    private func url(of job: Job, _ call: HubCall) -> String { call.url("jobs", job.id) + call.versionQuery }

    private func stored<Value>(_ work: () async throws(StorageError) -> Value) async throws(HubAPIError) -> Value {
        do throws(StorageError) {
            return try await work()
        } catch {
            throw HubAPIError(error)
        }
    }

    /// Creates an id: a number of 19 digits that decreases with time, followed by a UUID. So newer jobs have smaller
    /// ids.
    private static func newID(at now: Timestamp) -> String {
        let ticks = 621_355_968_000_000_000 + now.milliseconds * 10_000
        return "\(3_155_378_975_999_999_999 - ticks)\(TrackingID.random())"
    }
}
