import MartletCore
import MartletHTTP
import MartletModel
import Synchronization

/// The part of the administration API for the database clusters that hubs live on.
///
/// `GET /clusters` lists them: `{"clusters": [{"number", "address", "hubs", "obstacle"}]}`, and `POST /clusters` adds one:
/// `{"address"}`, answered `{"number", "isNew"}`. `DELETE /clusters/{number}` removes one without hubs. `POST
/// /hubs/{name}/move` begins to move a hub: `{"cluster"}`; `GET` answers how far the last move is that this node has
/// begun: `{"cluster", "phase", "copied", "compared", "refusedMilliseconds", "failure"}`.
struct ClusterAdministration: Sendable {
    private static let bodyLimit = 64 << 10

    let store: (any ClusterStore)?
    let hubs: HubDirectory
    let moves: HubMoves
    let time: any TimeSource

    func addRoutes(to router: inout Router) {
        router.on(.get, "/clusters") { _, _ in
            await answer { store throws(StorageError) in
                let clusters = try await store.clusters()
                return HTTPResponse(.ok, json: ["clusters": .array(clusters.map(Self.document))])
            }
        }
        router.on(.post, "/clusters", bodyLimit: Self.bodyLimit) { request, _ in
            guard let address = try? JSON(parsing: request.body)["address"]?.string else {
                return HTTPResponse(.badRequest, error: "Give the address of the database: {\"address\": \"URL\"}.")
            }
            return await answer { store throws(StorageError) in
                let addition = try await store.addCluster(address, at: time.now)
                return HTTPResponse(
                    addition.isNew ? .created : .ok,
                    json: ["number": .integer(Int64(addition.number)), "isNew": .bool(addition.isNew)])
            }
        }
        router.on(.delete, "/clusters/{number}") { _, match in
            guard let number = Int(match["number"]) else {
                return HTTPResponse(.notFound, error: "A cluster has a number.")
            }
            return await answer { store throws(StorageError) in
                try await store.removeCluster(number)
                return HTTPResponse(.noContent)
            }
        }
        router.on(.post, "/hubs/{name}/move", bodyLimit: Self.bodyLimit) { request, match in
            guard let number = try? JSON(parsing: request.body)["cluster"]?.integer,
                let cluster = Int(exactly: number)
            else {
                return HTTPResponse(.badRequest, error: "Give the number of the cluster: {\"cluster\": 2}.")
            }
            guard let hub = hubs.hub(named: match["name"]) else { return AdminAPI.refusal(.notFound(match["name"])) }
            return await answer { store in
                guard moves.begin(hub, to: cluster, in: store) else {
                    return HTTPResponse(.conflict, error: "The hub '\(hub.name)' is being moved already.")
                }
                return HTTPResponse(202, json: moves.document(of: hub.id))
            }
        }
        router.on(.get, "/hubs/{name}/move") { _, match in
            guard let hub = hubs.hub(named: match["name"]) else { return AdminAPI.refusal(.notFound(match["name"])) }
            return HTTPResponse(.ok, json: moves.document(of: hub.id))
        }
    }

    private func answer(
        _ work: (any ClusterStore) async throws(StorageError) -> HTTPResponse
    ) async -> HTTPResponse {
        guard let store else {
            return HTTPResponse(
                .conflict, error: "The data of this server is in its data directory. Only PostgreSQL has clusters.")
        }
        do throws(StorageError) {
            return try await work(store)
        } catch {
            return HTTPResponse(.conflict, error: error.detail)
        }
    }

    private static func document(_ cluster: ClusterDescription) -> JSON {
        [
            "number": .integer(Int64(cluster.number)), "address": .string(cluster.address),
            "hubs": .integer(Int64(cluster.hubs)), "obstacle": cluster.obstacle.map(JSON.string) ?? .null,
        ]
    }
}

/// The moves of hubs between clusters that this process has begun.
final class HubMoves: Sendable {
    private struct Entry {
        var cluster: Int
        var progress = HubMoveProgress()
        var isRunning = true
        var failure: String?
    }

    private let entries = Mutex<[Hub.ID: Entry]>([:])
    private let log: Log

    init(log: Log) {
        self.log = log
    }

    /// Begins to move a hub.
    /// - Returns: False if this process is moving the hub already.
    func begin(_ entry: Hub, to cluster: Int, in store: any ClusterStore) -> Bool {
        let (hub, name) = (entry.id, entry.name)
        let isNew = entries.withLock { entries in
            guard entries[hub]?.isRunning != true else { return false }
            entries[hub] = Entry(cluster: cluster)
            return true
        }
        guard isNew else { return false }
        Task {
            do throws(StorageError) {
                let progress = try await store.move(hub, toCluster: cluster) { [weak self] progress in
                    self?.entries.withLock { $0[hub]?.progress = progress }
                }
                end(hub, progress)
                log.write(
                    .info, "A hub has moved to another cluster.",
                    [
                        "hub": .string(name), "cluster": .integer(Int64(cluster)),
                        "rows": .integer(progress.compared),
                        "refusedMilliseconds": .integer(Int64(progress.refusal / .milliseconds(1))),
                    ])
            } catch {
                end(hub, failure: error.detail)
                log.write(
                    .warning, "A hub could not be moved to another cluster: \(error)",
                    ["hub": .string(name), "cluster": .integer(Int64(cluster))])
            }
        }
        return true
    }

    private func end(_ hub: Hub.ID, _ progress: HubMoveProgress? = nil, failure: String? = nil) {
        entries.withLock { entries in
            entries[hub]?.isRunning = false
            if let progress { entries[hub]?.progress = progress }
            entries[hub]?.failure = failure
        }
    }

    /// How far the last move of a hub is; null if there was none.
    func document(of hub: Hub.ID) -> JSON {
        guard let entry = entries.withLock({ $0[hub] }) else { return .null }
        let phase = entry.failure == nil ? entry.progress.phase.rawValue : "failed"
        return [
            "cluster": .integer(Int64(entry.cluster)), "phase": .string(phase),
            "copied": .integer(entry.progress.copied), "compared": .integer(entry.progress.compared),
            "refusedMilliseconds": .integer(Int64(entry.progress.refusal / .milliseconds(1))),
            "failure": entry.failure.map(JSON.string) ?? .null,
        ]
    }
}
