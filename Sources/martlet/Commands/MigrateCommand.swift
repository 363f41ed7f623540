import MartletHTTP
import MartletModel
import MartletServer
import Synchronization

/// `martlet migrate azure`: copies the devices of a hub in Azure to a hub of this server.
enum MigrateCommand {
    static let command = Command(
        "migrate azure", operands: ["HUB"],
        "Copy registrations and installations of a hub at Azure into HUB. Data that an app has written to HUB is kept. "
            + "If the command is stopped and started again, it continues where it stopped.",
        options: [
            .data, .adminSocket,
            Option(
                "connection-string", "CS", "A connection string of the hub at Azure, with the right Manage.",
                isSecret: true,
                isFlagAlone: true),
            Option("source-hub", "NAME", "The name of the hub at Azure, if it is not HUB."),
            Option("ca-file", "FILE", "The authority to trust for the source instead of the system's."),
            Option("rate", "N", "The maximum number of requests a second to the source.", default: "20"),
            Option("follow", nil, "Begin again after each copy, until stopped."),
            Option("every", "DURATION", "With --follow: the time between two copies.", default: "1m"),
            Option("compare", nil, "Copy nothing: compare both sides."),
            .json("counts by platform, reasons of refusals and deleted"), .quiet,
        ]
    ) { invocation in
        _ = try invocation.required("connection-string")
        guard !(invocation.isOn("follow") && invocation.isOn("compare")) else {
            throw UsageError(description: "Give --follow or --compare, not both.", command: invocation.command)
        }
        let migration = try Migration(invocation)
        if invocation.isOn("compare") { return try await migration.compare() }
        let pause = try invocation.required("every", as: "a duration \(DurationText.form)") { DurationText($0) }
        repeat {
            try await migration.run()
            if invocation.isOn("follow") { try await Task.sleep(for: .seconds(pause.seconds)) }
        } while invocation.isOn("follow")
    }
}

/// A migration in progress.
private struct Migration {
    private static let pageLimit = 100
    /// The maximum size of the documents in one request to the server, in bytes.
    private static let batchBytes = 1 << 20
    /// The maximum number of installations that are read at the same time. `--rate` also limits these reads.
    private static let width = 8
    /// The maximum time to wait for a server that is not running, in seconds.
    private static let serverWait = 600

    private let invocation: Invocation
    private let source: Source
    private let administration: Administration
    private let path: String
    private let progress = ProgressDisplay(.items)

    init(_ invocation: Invocation) throws {
        self.invocation = invocation
        source = try Source(invocation)
        administration = try Administration(invocation)
        path = "/hubs/\(segment(invocation.operand("HUB")))/migration"
    }

    /// Runs one pass of the copy.
    func run() async throws {
        let begun = try await call(.get, "")["checkpoint"]
        let isSame = begun?["source"]?.string == source.name
        var token = isSame ? begun?["continuation"]?.string : nil
        var report = MigrationReport(isSame ? begun?["report"] : nil)
        if token != nil { invocation.report("martlet: continues where it stopped.") }
        while true {
            guard let page = try await source.page(after: token) else {
                // Starts again, because the source no longer knows the token.
                (token, report) = (nil, MigrationReport())
                continue
            }
            let answer = try await call(.post, "/page", body: page.body)
            report.add(answer)
            for part in try await installations(answer["installations"]?.array ?? []) {
                report.add(try await call(.post, "/installations", body: JSON.array(part).bytes))
            }
            token = page.next
            let checkpoint: JSON = [
                "source": .string(source.name), "continuation": token.map { .string($0) } ?? .null,
                "report": report.json,
            ]
            try await call(.put, "/checkpoint", body: checkpoint.bytes)
            progress.show(
                report.total("copied") + report.total("unchanged"),
                notes: ["\(report.total("unchanged").grouped) unchanged"])
            if token == nil { break }
        }
        let deleted = try await deleteGone()
        try await call(.post, "/end")
        progress.end()
        show(report, ["copied", "unchanged", "kept", "refused"], deleted)
    }

    /// Reads installations from the source, several at a time, in groups that each fit one request.
    private func installations(_ wanted: [JSON]) async throws -> [[JSON]] {
        var groups: [[JSON]] = []
        var bytes = Self.batchBytes
        for (item, document) in zip(wanted, try await documents(wanted.map { $0["id"]?.string })) {
            guard let document else { continue }
            if bytes + document.count > Self.batchBytes {
                groups.append([])
                bytes = 0
            }
            var members = item.object ?? [:]
            members["document"] = (try? JSON(parsing: document)) ?? .null
            groups[groups.count - 1].append(.object(members))
            bytes += document.count
        }
        return groups
    }

    /// Reads installations from the source.
    /// - Returns: A document for each id; nil in place of an installation that does not exist.
    private func documents(_ ids: [String?]) async throws -> [[UInt8]?] {
        let source = source
        return try await withThrowingTaskGroup(of: (Int, [UInt8]?).self) { group in
            var found = [[UInt8]?](repeating: nil, count: ids.count)
            for (index, id) in ids.enumerated() {
                guard let id else { continue }
                if index >= Self.width, let (index, document) = try await group.next() { found[index] = document }
                group.addTask { (index, try await source.installation(id)) }
            }
            for try await (index, document) in group { found[index] = document }
            return found
        }
    }

    /// Deletes copies of devices that no longer exist in the source. Each of these devices is looked up in the source
    /// first.
    private func deleteGone() async throws -> Int64 {
        var count: Int64 = 0
        var query: String? = ""
        while let current = query {
            let page = try await call(.get, "/missing" + current)
            var gone: [String: [JSON]] = [:]
            for kind in ["registrations", "installations"] {
                for id in page[kind]?.array?.compactMap(\.string) ?? [] where try await source.hasNo(kind, id) {
                    gone[kind, default: []].append(.string(id))
                }
            }
            if !gone.isEmpty {
                let body = JSON.object(gone.mapValues { .array($0) }).bytes
                count += try await call(.post, "/gone", body: body)["deleted"]?.integer ?? 0
            }
            query = page["next"]?.integer.map { "?after=\($0)" }
        }
        return count
    }

    func compare() async throws {
        var token: String?
        var report = MigrationReport()
        repeat {
            guard let page = try await source.page(after: token) else {
                throw ServerError("The source's listing ended early: try again.")
            }
            report.add(try await call(.post, "/compare", body: page.body))
            token = page.next
            progress.show(report.total("same"))
        } while token != nil
        progress.end()
        show(report, ["same", "different", "missing", "refused"], nil)
        guard report.total("missing") == 0 else {
            throw ServerError("\(report.total("missing").counted("registration")) of the source missing here.")
        }
    }

    private func show(_ report: MigrationReport, _ outcomes: [String], _ deleted: Int64?) {
        var json = report.json.object ?? [:]
        json["deleted"] = deleted.map { .integer($0) }
        guard !invocation.printJSON(.object(json)) else { return }
        for line in report.lines(outcomes) { Terminal.print(Terminal.singleLine(line)) }
        if let deleted, deleted > 0 {
            Terminal.print("\(deleted.grouped) deleted, because the source no longer has them")
        }
        if report.counts.isEmpty { Terminal.print("The source has no registrations.") }
    }

    /// Sends a request to the server. If the server does not run, for example during a restart, waits for it.
    @discardableResult
    private func call(_ method: HTTPMethod, _ route: String, body: [UInt8] = []) async throws -> JSON {
        for attempt in 1... {
            let response: HTTPResponse?
            do {
                response = try await administration.respondRunning(method, path + route, body: body)
            } catch {
                guard attempt < Self.serverWait else { throw error }
                response = nil
            }
            if let response, response.status.code != 503 {
                let answer = response.bytes.isEmpty ? JSON.null : try JSON(parsing: response.bytes)
                guard response.status.isSuccess else {
                    throw ServerError(answer["error"]?.string ?? "The server answered \(response.status.code).")
                }
                return answer
            }
            guard attempt < Self.serverWait else { break }
            if attempt == 1 { invocation.report("martlet: waits for the server.") }
            try await Task.sleep(for: .seconds(1))
        }
        throw ServerError("No server runs on the data directory: a migration needs a running server.")
    }
}

/// The hub in Azure from which devices are copied.
private final class Source: Sendable {
    /// The name for output; it contains no secret.
    let name: String
    private let client: SignedHubClient
    private let hub: String
    private let interval: Duration
    /// The time at which the next request may be sent.
    private let next = Mutex(ContinuousClock.now)
    /// The time at which the last reported delay ends.
    private let reported = Mutex(ContinuousClock.now)
    private let report: @Sendable (String) -> Void

    init(_ invocation: Invocation) throws {
        let text = try invocation.required("connection-string")
        let plain = invocation["source-hub"] ?? invocation.operand("HUB")
        hub = segment(plain)
        client = try SignedHubClient(text, hub: hub, invocation)
        name = "\(client.address)/\(plain)"
        let rate = try invocation.required("rate", as: "a number from 1 to 1000") { text in
            Int(text).flatMap { (1...1000).contains($0) ? $0 : nil }
        }
        interval = .seconds(1) / rate
        report = { invocation.report($0) }
    }

    /// Reads a page of the registrations.
    /// - Returns: nil if the source does not know the token.
    func page(after token: String?) async throws -> (body: [UInt8], next: String?)? {
        // Azure's continuation tokens are percent-encoded already. So a token is encoded here only if it has a
        // character that would break the query, such as `&` or a space.
        let isEncoded = token?.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "&") } ?? true
        let item = token.map { "&continuationtoken=\(isEncoded ? $0 : segment($0))" } ?? ""
        let response = try await get("registrations?api-version=2020-06&$top=100\(item)")
        if token != nil, [400, 404, 410].contains(response.status.code) { return nil }
        try check(response)
        let next = response.fields["x-ms-continuationtoken"].flatMap { $0.isEmpty ? nil : $0 }
        return (response.bytes, next)
    }

    /// Reads an installation.
    /// - Returns: nil if the installation does not exist.
    func installation(_ id: String) async throws -> [UInt8]? {
        let response = try await get("installations/\(segment(id))?api-version=2020-06")
        if [404, 410].contains(response.status.code) { return nil }
        try check(response)
        return response.bytes
    }

    func hasNo(_ kind: String, _ id: String) async throws -> Bool {
        let response = try await get("\(kind)/\(segment(id))?api-version=2020-06")
        if [404, 410].contains(response.status.code) { return true }
        try check(response)
        return false
    }

    private func check(_ response: HTTPResponse) throws {
        guard !response.status.isSuccess else { return }
        let reason =
            switch response.status.code {
            case 401, 403: "the connection string needs the right Manage"
            case 404: "there is no such hub; --source-hub names it"
            default: "see the metrics of the source"
            }
        throw ServerError("\(name) answered \(response.status.code): \(reason).")
    }

    private func get(_ target: String) async throws -> HTTPResponse {
        for attempt in 1... {
            try await Task.sleep(until: turn())
            let (response, failure) = try await answer(to: target)
            let wait = SourceRetry.wait(
                status: response.map { Int($0.status.code) }, retryAfter: response?.fields["retry-after"],
                attempt: attempt)
            guard let wait else {
                guard let response else { throw failure }
                return response
            }
            hold(seconds: wait, because: failure)
        }
        throw ServerError("\(name) does not answer.")
    }

    /// Sends a request once.
    /// - Returns: The answer, nil if there is none; and an error for the report of a repetition, which states the
    ///   status of the answer, or why there is none.
    /// - Throws: `ServerError` if repeating the request cannot help.
    private func answer(to target: String) async throws -> (HTTPResponse?, ServerError) {
        switch try await client.attempt(.get, "/\(hub)/\(target)") {
        case .success(let response): return (response, ServerError("\(name) answered \(response.status.code)."))
        case .failure(let error):
            guard SourceRetry.mayPass(error.kind) else { throw client.failure(error) }
            return (nil, client.failure(error))
        }
    }

    /// Delays all requests to the source, because the source has asked one of them to wait. A delay is reported once,
    /// not again by each request that it applies to.
    private func hold(seconds: Int, because failure: ServerError) {
        let end = ContinuousClock.now + .seconds(seconds)
        next.withLock { $0 = max($0, end) }
        let isNew = reported.withLock { last in
            guard end > last + .milliseconds(500) else { return false }
            last = end
            return true
        }
        if isNew { report("martlet: \(failure.description) Asks again in \(seconds) s.") }
    }

    /// Returns the next time at which a request may be sent without exceeding the rate, and reserves that time.
    private func turn() -> ContinuousClock.Instant {
        next.withLock { next in
            let turn = max(next, .now)
            next = turn + interval
            return turn
        }
    }
}
