import MartletCore
import MartletHTTP
import MartletModel

/// The part of the administration API that moves all data of this server to a database: `POST /move` with
/// `{"database": URL}`. Optional members are `directory`, the data directory that the caller means
/// (`ServerMove.identity(of:)`), and `stopLimitSeconds`, for how long the server takes no changes at most.
///
/// The answer is a line of JSON for each event, and one a second at least: `{"progress": {"name", "rows",
/// "isComparison"}}`, `{"compared": {"name", "rows", "checksum"}}`, `{"stage"}` (`copying`, `stopped`, `completing`),
/// and at the end `{"moved": {"copyingMilliseconds", "stoppedMilliseconds"}}` or `{"failure"}`. A caller that goes away
/// gives its move up.
struct MoveAdministration: Sendable {
    private static let bodyLimit = 64 << 10
    private static let interval = Duration.seconds(1)
    private static let longestLimit: Int64 = 86_400

    let move: ServingMove?
    let dataDirectory: String

    func addRoutes(to router: inout Router) {
        router.on(.post, "/move", bodyLimit: Self.bodyLimit) { request, _ in
            guard let move else {
                return HTTPResponse(
                    .conflict,
                    error: "This server has its data in a database. To move that to a directory, stop all nodes.")
            }
            guard let body = try? JSON(parsing: request.body), let url = body["database"]?.string else {
                return HTTPResponse(.badRequest, error: "Give the address of the database: {\"database\": \"URL\"}.")
            }
            if let meant = body["directory"]?.string, let own = ServerMove.identity(of: dataDirectory), meant != own {
                return HTTPResponse(
                    .conflict, error: "The server of this admin socket has another data directory than --from.")
            }
            let limit = body["stopLimitSeconds"]?.integer
            guard limit.map((1...Self.longestLimit).contains) ?? true else {
                return HTTPResponse(.badRequest, error: "stopLimitSeconds is from 1 to \(Self.longestLimit).")
            }
            return HTTPResponse(
                .ok, fields: ["content-type": "application/x-ndjson", "cache-control": "no-store"],
                body: .stream { writer in
                    try await Self.run(move, to: url, limit.map { .seconds($0) } ?? ServingMove.limit, writer)
                })
        }
    }

    private static func run(
        _ move: ServingMove, to url: String, _ limit: Duration, _ writer: any HTTPBodyWriter
    ) async throws {
        let (lines, continuation) = AsyncStream<JSON>.makeStream()
        continuation.yield(["stage": "copying"])
        guard let run = move.begin(to: url, limit: limit, report: { continuation.yield(document($0)) }) else {
            // The move that is under way is another caller's.
            return try await write(
                ["failure": "A move is under way already, or has not ended yet. Wait for its end."], to: writer)
        }
        // Not a child of this task: the move itself decides how it ends when the caller goes away.
        Task {
            continuation.yield(document(await run.result))
            continuation.finish()
        }
        let beat = Task {
            while (try? await Task.sleep(for: interval)) != nil { continuation.yield([:]) }
        }
        defer { beat.cancel() }
        do {
            for await line in lines { try await write(line, to: writer) }
            // The lines also end when the caller goes away, which cancels this task.
            try Task.checkCancellation()
        } catch {
            move.giveUp(
                run.number, because: "The command that asked for the move has ended, so the move was given up.")
            Task {
                _ = await run.result
                move.leave()
            }
            throw error
        }
        move.leave()
    }

    private static func write(_ line: JSON, to writer: any HTTPBodyWriter) async throws {
        try await writer.write(line.bytes + [UInt8(ascii: "\n")])
    }

    private static func document(_ event: ServingMove.Event) -> JSON {
        switch event {
        case .stopped: ["stage": "stopped"]
        case .progress(.completing): ["stage": "completing"]
        case .progress(.progress(let name, let rows, let isComparison)):
            ["progress": ["name": .string(name), "rows": .integer(rows), "isComparison": .bool(isComparison)]]
        case .progress(.compared(let name, let rows, let checksum)):
            ["compared": ["name": .string(name), "rows": .integer(rows), "checksum": .string(checksum)]]
        }
    }

    private static func document(_ result: Result<ServingMove.Times, ServerError>) -> JSON {
        switch result {
        case .success(let times):
            [
                "moved": [
                    "copyingMilliseconds": .integer(Int64(times.copying / .milliseconds(1))),
                    "stoppedMilliseconds": .integer(Int64(times.stopped / .milliseconds(1))),
                ]
            ]
        case .failure(let error): ["failure": .string(error.description)]
        }
    }
}
