import Glibc
import MartletHTTP
import MartletModel
import MartletServer

/// `martlet check`: checks the requirements of `serve` before a start.
enum CheckCommand {
    static let command = Command(
        "check",
        "Check the prerequisites of 'serve' with the same settings, and change nothing: exit 0, or 1 if there is a problem.",
        options: ServeCommand.command.options + [
            .json("one object a line: level (ok, warning or problem), subject, sentence")
        ]
    ) { invocation in
        let configuration = try ServeCommand.validConfiguration(invocation)
        try report(try await results(invocation, configuration), invocation)
    }

    /// Prints the results.
    /// - Throws: `ServerError` if there is a problem.
    static func report(_ results: [CheckResult], _ invocation: Invocation) throws(ServerError) {
        for result in results where !invocation.printJSON(result.json) {
            Terminal.print("\(Terminal.colored("\(result.level.rawValue):", result.level.color)) \(result.sentence)")
        }
        let problems = results.count { $0.level == .problem }
        guard problems == 0 else { throw ServerError("\(Int64(problems).counted("problem")) found.") }
    }

    private static func results(
        _ invocation: Invocation, _ configuration: ServerConfiguration
    ) async throws -> [CheckResult] {
        let check = ServerCheck(configuration)
        let simulator = invocation.isOn("simulator") ? try invocation.address("simulator-listen") : nil
        var results = check.data(servedBy: geteuid()) + (await check.sharedDatabase())
        guard check.hasData else {
            return results + check.certificate() + check.provider() + check.ports(simulator: simulator)
        }
        // Advice about the server's address is not printed, because no address is printed.
        let administration = try Administration(invocation, printsAdvice: false)
        let runs = await running(administration)
        results += check.disk()
        // The ports are checked as the current user, not as the user that runs the server. For a low port number, the
        // user that runs the server needs a capability, which only the systemd unit provides. Root needs none.
        if runs == nil { results += check.ports(simulator: simulator) }
        results += try asOwner(of: configuration.dataDirectory) { check.certificate() + check.provider() }
        if let runs {
            results.append(runs)
        } else {
            let schema = try asOwner(of: configuration.dataDirectory) { check.database() }
            results += schema
            // Credentials in PostgreSQL are checked only through a running server.
            guard configuration.database == nil else { return results }
            // The credentials are checked only if the database has the current schema. Opening a database with another
            // schema would change the database.
            guard schema.allSatisfy({ $0.level == .ok }), !schema.isEmpty else { return results }
        }
        return results + (await credentials(check, administration))
    }

    /// Returns the state of the running server; nil if none is running.
    private static func running(_ administration: Administration) async -> CheckResult? {
        do {
            guard try await administration.callRunning(.get, "/ready") != nil else { return nil }
            return CheckResult(.ok, "server", "A server runs on the data directory and is ready.")
        } catch {
            return CheckResult(.problem, "server", "\(error)")
        }
    }

    static func credentials(_ check: ServerCheck, _ administration: Administration) async -> [CheckResult] {
        do {
            var results: [CheckResult] = []
            for hub in try await administration.call(.get, "/hubs").array ?? [] {
                let name = hub["name"]?.string ?? ""
                let state = try await administration.call(.get, "/hubs/\(segment(name))")
                let platforms = (state["credentials"]?.array ?? []).compactMap(\.string)
                let ends = state["credentialExpiries"]
                results += check.credentials(
                    ofHub: name,
                    ends: Dictionary(
                        platforms.map { ($0, ends?[$0]?.string.flatMap(Timestamp.init(iso8601:))) },
                        uniquingKeysWith: { first, _ in first }))
            }
            return results
        } catch {
            return [CheckResult(.problem, "credentials", "\(error)")]
        }
    }

    /// Reads files as the user that runs the server, to find files that only root can read.
    private static func asOwner(of directory: String, _ work: () -> [CheckResult]) throws -> [CheckResult] {
        let owner = try AssumedOwner(of: directory)
        defer { owner?.end() }
        return work()
    }
}

extension CheckResult.Level {
    fileprivate var color: Terminal.Color {
        switch self {
        case .ok: .green
        case .warning: .yellow
        case .problem: .red
        }
    }
}
