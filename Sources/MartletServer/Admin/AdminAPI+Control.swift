import MartletCore
import MartletHTTP
import MartletHubAPI
import MartletModel

// Routes that pause, resume, cancel and watch a send that is under way.
extension AdminAPI {
    func addControl(to router: inout Router) {
        for wish in [ControlRequest.cancel, .pause, .resume] {
            router.on(.post, "/hubs/{name}/messages/{id}/\(wish.rawValue)") { _, match in
                if let sentence = match.target.refusalOfTrial {
                    return HTTPResponse(.badRequest, error: sentence + ".")
                }
                return await answer(match) { (id, hub) throws(StorageError) in
                    switch try await controls.apply(wish, to: id, in: hub.id) {
                    case .done: try await status(of: id, in: hub)
                    case .notFound: Self.unknownNotification
                    case .ended:
                        HTTPResponse(
                            .conflict, error: "The notification has ended: there is nothing left to \(wish.rawValue).")
                    }
                }
            }
        }
        router.on(.get, "/hubs/{name}/messages/{id}/status") { _, match in
            await answer(match) { (id, hub) throws(StorageError) in try await status(of: id, in: hub) }
        }
    }

    private func answer(
        _ match: RouteMatch, _ work: (NotificationID, Hub) async throws(StorageError) -> HTTPResponse
    ) async -> HTTPResponse {
        guard let hub = hubs.hub(named: match["name"]) else { return Self.refusal(.notFound(match["name"])) }
        guard let id = NotificationID(match["id"]) else { return Self.unknownNotification }
        do throws(StorageError) {
            return try await work(id, hub)
        } catch {
            return HTTPResponse(.serviceUnavailable, error: error.detail)
        }
    }

    private func status(of id: NotificationID, in hub: Hub) async throws(StorageError) -> HTTPResponse {
        guard let status = try await controls.status(of: id, in: hub.id) else {
            return Self.unknownNotification
        }
        return HTTPResponse(.ok, json: SendStatusDocument(status, at: controls.now).json)
    }
}
