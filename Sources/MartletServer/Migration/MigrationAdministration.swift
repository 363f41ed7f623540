import MartletCore
import MartletHTTP
import MartletHubAPI
import MartletModel

/// Receives the data that `martlet migrate azure` reads from another hub, and keeps the state of the migration.
struct MigrationAdministration: Sendable {
    /// The maximum size of a request's body, in bytes.
    ///
    /// It is large enough for a page of a listing, which has up to 100 registrations.
    private static let bodyLimit = 8 << 20
    /// The maximum number of registrations on a page. `martlet migrate azure` asks the source for pages of this size.
    private static let pageLimit = 100

    let hubs: HubDirectory
    let devices: DeviceRegistry
    let store: any DeviceStore
    let lines: RegistrationLines
    let time: any TimeSource
    let states: MigrationStates

    func addRoutes(to router: inout Router) {
        router.on(.get, "/hubs/{name}/migration") { _, match in
            await answer(match) { work in
                let (pass, text) = work.state.read { ($0.pass, $0.checkpoint) }
                let checkpoint = try? JSON(parsing: Array(text.utf8))
                return HTTPResponse(.ok, json: ["pass": .integer(pass), "checkpoint": checkpoint ?? .null])
            }
        }
        router.on(.put, "/hubs/{name}/migration/checkpoint", bodyLimit: Self.bodyLimit) { request, match in
            await answer(match) { work in
                try work.state.setCheckpoint(try JSON(parsing: request.body).text)
                return HTTPResponse(.noContent)
            }
        }
        router.on(.post, "/hubs/{name}/migration/page", bodyLimit: Self.bodyLimit) { request, match in
            await answer(match) { work in
                let rows = try rows(request, work)
                return Self.answer(try await work.copy(rows), to: rows)
            }
        }
        router.on(.post, "/hubs/{name}/migration/installations", bodyLimit: Self.bodyLimit) { request, match in
            await answer(match) { work in
                HTTPResponse(
                    .ok, json: try await work.copyInstallations(try JSON(parsing: request.body).array ?? []))
            }
        }
        router.on(.post, "/hubs/{name}/migration/compare", bodyLimit: Self.bodyLimit) { request, match in
            await answer(match) { work in
                let rows = try rows(request, work)
                return Self.answer(try await work.compare(rows), to: rows)
            }
        }
        router.on(.get, "/hubs/{name}/migration/missing") { _, match in
            await answer(match) { work in
                let after = match.target.item("after")?.value.flatMap { Int64($0) }
                return HTTPResponse(.ok, json: try await work.missing(after: after))
            }
        }
        router.on(.post, "/hubs/{name}/migration/gone", bodyLimit: Self.bodyLimit) { request, match in
            await answer(match) { work in
                HTTPResponse(.ok, json: try await work.delete(try JSON(parsing: request.body)))
            }
        }
        router.on(.post, "/hubs/{name}/migration/end") { _, match in
            await answer(match) { work in
                try work.state.endPass()
                return HTTPResponse(.noContent)
            }
        }
    }

    private func rows(_ request: HTTPRequest, _ work: MigrationWork) throws(JobLineError) -> [SourceRow] {
        try lines.rows(ofFeed: request.body, in: work.hub, atMost: Self.pageLimit)
    }

    /// Adds the number of registrations on the page to the answer. This number lets `martlet migrate azure` notice a
    /// listing whose pages are all empty.
    private static func answer(_ answer: JSON, to rows: [SourceRow]) -> HTTPResponse {
        var members = answer.object ?? [:]
        members["registrations"] = .integer(Int64(rows.count))
        return HTTPResponse(.ok, json: .object(members))
    }

    private func answer(
        _ match: RouteMatch, _ work: (MigrationWork) async throws -> HTTPResponse
    ) async -> HTTPResponse {
        guard let hub = hubs.hub(named: match["name"]) else {
            return HTTPResponse(.notFound, error: "There is no hub named '\(match["name"])'.")
        }
        do {
            let state = try states.state(of: hub.id)
            return try await work(
                MigrationWork(hub: hub.id, devices: devices, store: store, time: time, state: state))
        } catch let error as JobLineError {
            return HTTPResponse(.badRequest, error: error.sentence)
        } catch let error as StorageError {
            return HTTPResponse(
                error.kind == .full ? .insufficientStorage : .serviceUnavailable, error: error.detail)
        } catch {
            return HTTPResponse(.badRequest, error: "\(error)")
        }
    }
}
