import MartletHTTP
import MartletModel
import MartletServer

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

/// A migration in progress: reads the source page by page, and sends each page to the server.
private struct Migration {
    /// The maximum number of installations that are read at the same time. `--rate` also limits these reads.
    private static let width = 8
    /// The maximum time to wait for a server that is not running, in seconds.
    private static let serverWait = 600

    private let invocation: Invocation
    private let source: MigrationSource
    private let administration: Administration
    private let path: String
    private let progress = ProgressDisplay(.items)

    init(_ invocation: Invocation) throws {
        self.invocation = invocation
        source = try MigrationSource(invocation)
        administration = try Administration(invocation)
        path = "/hubs/\(segment(invocation.operand("HUB")))/migration"
    }

    /// Runs one pass of the copy, from the last checkpoint if an earlier run was stopped.
    func run() async throws {
        let begun = try await call(.get, "")["checkpoint"]
        let isSame = begun?["source"]?.string == source.name
        var token = isSame ? begun?["continuation"]?.string : nil
        var report = MigrationReport(isSame ? begun?["report"] : nil)
        if token != nil { invocation.report("martlet: continues where it stopped.") }
        var continuations = SourceContinuations()
        try continuations.follow(token)
        while true {
            guard let page = try await source.page(after: token) else {
                // The listing begins again, because the source no longer knows the continuation token.
                try continuations.restart()
                (token, report) = (nil, MigrationReport())
                continue
            }
            let answer = try await call(.post, "/page", body: page.body)
            report.add(answer)
            try await copy(answer["installations"]?.array ?? [], &report)
            try continuations.follow(page.next, after: answer["registrations"]?.integer)
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

    /// Copies the installations that the server has asked for in its answer to a page of registrations.
    ///
    /// Several installations are read from the source at a time. They are sent to the server as soon as there are
    /// enough for one request. So memory holds only the documents of one request, and the documents that are being
    /// read.
    private func copy(_ wanted: [JSON], _ report: inout MigrationReport) async throws {
        let source = source
        var batch = InstallationBatch()
        try await withThrowingTaskGroup(of: (JSON, MigrationSource.Item).self) { group in
            func start(_ item: JSON) {
                guard let id = item["id"]?.string else { return }
                group.addTask { (item, try await source.installation(id)) }
            }
            var waiting = wanted[...]
            for item in waiting.prefix(Self.width) { start(item) }
            waiting = waiting.dropFirst(Self.width)
            while let (item, found) = try await group.next() {
                if let next = waiting.popFirst() { start(next) }
                switch found {
                case .absent: break
                case .tooLarge:
                    report.refuse(tooLarge: item["id"]?.string ?? "", of: item["platform"]?.string ?? "")
                case .document(let document):
                    if let full = batch.add(item, document) { try await send(full, &report) }
                }
            }
        }
        if let rest = batch.take() { try await send(rest, &report) }
    }

    private func send(_ installations: [JSON], _ report: inout MigrationReport) async throws {
        report.add(try await call(.post, "/installations", body: JSON.array(installations).bytes))
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
        var continuations = SourceContinuations()
        repeat {
            guard let page = try await source.page(after: token) else {
                throw ServerError("The source's listing ended early: try again.")
            }
            let answer = try await call(.post, "/compare", body: page.body)
            report.add(answer)
            try continuations.follow(page.next, after: answer["registrations"]?.integer)
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

    /// Sends a request to the server. If no server runs or the server answers 503, for example during a restart, tries
    /// again for up to ten minutes.
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
                guard response.status != .contentTooLarge else {
                    throw ServerError(
                        "The server answered 413: the source's page or installations have \(Int64(body.count).grouped) bytes, "
                            + "which is more than the server takes.")
                }
                return try AdministrationAnswer.document(of: response)
            }
            guard attempt < Self.serverWait else { break }
            if attempt == 1 { invocation.report("martlet: waits for the server.") }
            try await Task.sleep(for: .seconds(1))
        }
        throw ServerError("No server runs on the data directory: a migration needs a running server.")
    }
}
