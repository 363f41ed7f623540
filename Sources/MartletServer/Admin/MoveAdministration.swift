import MartletCore
import MartletHTTP
import MartletModel

/// The part of the administration API that moves all data of this server to a database: `POST /move` with
/// `{"database": URL}`.
///
/// The answer is a line of JSON for each event, and one a second at least: `{"progress": {"name", "rows",
/// "isComparison"}}`, `{"compared": {"name", "rows", "checksum"}}`, `{"stage"}` (`copying`, `stopped`, `completing`), and
/// at the end `{"moved": {"copyingMilliseconds", "stoppedMilliseconds"}}` or `{"failure"}`. A caller that goes away gives
/// the move up.
struct MoveAdministration: Sendable {
    private static let bodyLimit = 64 << 10
    private static let interval = Duration.seconds(1)

    let move: ServingMove?

    func addRoutes(to router: inout Router) {
        router.on(.post, "/move", bodyLimit: Self.bodyLimit) { request, _ in
            guard let move else {
                return HTTPResponse(
                    .conflict,
                    error: "This server has its data in a database. To move that to a directory, stop all nodes.")
            }
            guard let url = try? JSON(parsing: request.body)["database"]?.string else {
                return HTTPResponse(.badRequest, error: "Give the address of the database: {\"database\": \"URL\"}.")
            }
            return HTTPResponse(
                .ok, fields: ["content-type": "application/x-ndjson", "cache-control": "no-store"],
                body: .stream { writer in try await Self.run(move, to: url, writer) })
        }
    }

    private static func run(_ move: ServingMove, to url: String, _ writer: any HTTPBodyWriter) async throws {
        let (lines, continuation) = AsyncStream<JSON>.makeStream()
        continuation.yield(["stage": "copying"])
        // Not a child of this task: the move itself decides how it ends when the caller goes away.
        let work = Task {
            do throws(ServerError) {
                let times = try await move.run(to: url) { continuation.yield(document($0)) }
                continuation.yield([
                    "moved": [
                        "copyingMilliseconds": .integer(Int64(times.copying / .milliseconds(1))),
                        "stoppedMilliseconds": .integer(Int64(times.stopped / .milliseconds(1))),
                    ]
                ])
            } catch {
                continuation.yield(["failure": .string(error.description)])
            }
            continuation.finish()
        }
        let beat = Task {
            while (try? await Task.sleep(for: interval)) != nil { continuation.yield([:]) }
        }
        defer { beat.cancel() }
        do {
            for await line in lines { try await writer.write(line.bytes + [UInt8(ascii: "\n")]) }
            // The lines also end when the caller goes away, which cancels this task.
            try Task.checkCancellation()
        } catch {
            move.giveUp(because: "The command that asked for the move has ended, so the move was given up.")
            Task {
                await work.value
                move.leave()
            }
            throw error
        }
        await work.value
        move.leave()
    }

    private static func document(_ event: ServingMove.Event) -> JSON {
        switch event {
        case .stopped, .progress(.completing):
            return ["stage": .string(event.isStop ? "stopped" : "completing")]
        case .progress(.progress(let name, let rows, let isComparison)):
            return [
                "progress": ["name": .string(name), "rows": .integer(rows), "isComparison": .bool(isComparison)]
            ]
        case .progress(.compared(let name, let rows, let checksum)):
            return ["compared": ["name": .string(name), "rows": .integer(rows), "checksum": .string(checksum)]]
        }
    }
}

extension ServingMove.Event {
    fileprivate var isStop: Bool { if case .stopped = self { true } else { false } }
}
