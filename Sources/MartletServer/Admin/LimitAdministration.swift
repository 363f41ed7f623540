import MartletCore
import MartletHTTP
import MartletModel

/// The part of the administration API that manages the limits of a hub.
///
/// | request | answer |
/// |---|---|
/// | `GET /hubs/{name}/limits` | 200 `{"requestRate", "backlog", "usual": {"requestRate", "backlog"}, "unfinished": {"notifications", "bytes"}}`; null means the default limit, which is in `usual` |
/// | `PUT /hubs/{name}/limits` `{"requestRate", "backlog"}` | 200, the same body; a limit that is missing in the request is not changed |
struct LimitAdministration: Sendable {
    let hubs: HubDirectory
    let storage: any ServerStorage

    private static let bodyLimit = 4096

    func addRoutes(to router: inout Router) {
        router.on(.get, "/hubs/{name}/limits") { _, match in
            await answer { () throws(HubDirectoryError) in
                guard let hub = hubs.hub(named: match["name"]) else { throw .notFound(match["name"]) }
                return try await document(hub)
            }
        }
        router.on(.put, "/hubs/{name}/limits", bodyLimit: Self.bodyLimit) { request, match in
            await answer { () throws(HubDirectoryError) in
                guard let members = try? JSON(parsing: request.body).object else {
                    throw .invalid("Limits are a JSON object of numbers.")
                }
                let hub = try await hubs.update(match["name"]) { settings throws(HubDirectoryError) in
                    try Self.change(&settings.limits.requestRate, to: members["requestRate"])
                    try Self.change(&settings.limits.backlog, to: members["backlog"])
                }
                return try await document(hub)
            }
        }
    }

    private static func change(_ limit: inout Int?, to value: JSON?) throws(HubDirectoryError) {
        switch value {
        case nil: return
        case .null?: limit = nil
        case let value?:
            guard let number = value.integer else { throw .invalid("A limit is a whole number.") }
            limit = Int(clamping: number)
        }
    }

    private func document(_ hub: Hub) async throws(HubDirectoryError) -> JSON {
        let unfinished: BacklogSize
        do throws(StorageError) {
            unfinished = try await storage.backlogSize(of: hub.id)
        } catch {
            throw .storage(error)
        }
        func number(_ value: Int?) -> JSON { value.map { .integer(Int64($0)) } ?? .null }
        let limits = hub.settings.limits
        return [
            "requestRate": number(limits.requestRate), "backlog": number(limits.backlog),
            "usual": ["requestRate": number(hubs.standard.requestRate), "backlog": number(hubs.standard.backlog)],
            "unfinished": ["notifications": number(unfinished.notifications), "bytes": .integer(unfinished.bytes)],
        ]
    }

    private func answer(_ work: () async throws(HubDirectoryError) -> JSON) async -> HTTPResponse {
        do throws(HubDirectoryError) {
            return HTTPResponse(.ok, json: try await work())
        } catch {
            return AdminAPI.refusal(error)
        }
    }
}
