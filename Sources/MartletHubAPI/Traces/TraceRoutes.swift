import MartletCore
import MartletHTTP
import MartletModel

/// Serves traces, which explain why a notification did or did not reach a device. This route is an extension of Azure's
/// API. Like telemetry, it requires the Manage right, because a trace shows content sent to the devices of other users.
struct TraceRoutes: Sendable {
    let traces: Traces

    func add(to routes: inout HubRoutes) {
        routes.on(.get, "/{hub}/messages/{id}/devices/{device}", needs: .manage, read)
    }

    @Sendable private func read(_ call: HubCall) async throws(HubAPIError) -> HTTPResponse {
        guard let id = NotificationID(call.match["id"]) else { throw .notificationNotFound }
        let found: DeviceTrace?
        do throws(StorageError) {
            found = try await traces.trace(id, of: call.match["device"], in: call.hub.id)
        } catch {
            throw HubAPIError(error)
        }
        guard let trace = found else { throw .notificationNotFound }
        return HTTPResponse(
            .ok, fields: ["content-type": "application/json; charset=utf-8", "cache-control": "no-store"],
            body: .bytes(TraceDocument(trace).json.bytes))
    }
}
