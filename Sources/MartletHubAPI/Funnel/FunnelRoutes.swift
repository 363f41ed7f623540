import MartletCore
import MartletHTTP
import MartletModel

/// Serves the funnel of a notification. This route is an extension of Azure's API.
struct FunnelRoutes: Sendable {
    let funnels: Funnels

    func add(to routes: inout HubRoutes) {
        routes.on(.get, "/{hub}/messages/{id}/funnel", needs: .manage, read)
    }

    @Sendable private func read(_ call: HubCall) async throws(HubAPIError) -> HTTPResponse {
        guard let id = NotificationID(call.match["id"]) else { throw .notificationNotFound }
        let found: Funnel?
        do throws(StorageError) {
            found = try await funnels.funnel(of: id, in: call.hub.id)
        } catch {
            throw HubAPIError(error)
        }
        guard let funnel = found else { throw .notificationNotFound }
        return HTTPResponse(
            .ok, fields: ["content-type": "application/json; charset=utf-8", "cache-control": "no-store"],
            body: .bytes(FunnelDocument.json(funnel).bytes))
    }
}
