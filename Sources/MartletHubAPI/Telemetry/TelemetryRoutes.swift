import MartletCore
import MartletHTTP
import MartletModel

/// What became of a send (wire document, section 8.1).
struct TelemetryRoutes: Sendable {
    let notifications: NotificationIntake
    let platforms: PushPlatformList

    func add(to routes: inout HubRoutes) {
        routes.on(.get, "/{hub}/messages/{id}", needs: .manage, read)
    }

    @Sendable private func read(_ call: HubCall) async throws(HubAPIError) -> HTTPResponse {
        guard let id = NotificationID(call.match["id"]) else { throw .notificationNotFound }
        let found: NotificationReport?
        do throws(StorageError) {
            found = try await notifications.report(id, in: call.hub.id)
        } catch {
            throw HubAPIError(error)
        }
        guard let report = found else { throw .notificationNotFound }
        let details = NotificationDetails(
            report: report, platforms: platforms, url: call.url("messages", id.description) + call.versionQuery)
        return HTTPResponse(
            .ok, fields: ["content-type": "application/xml; charset=utf-8"], body: .bytes(details.document()))
    }
}
