import MartletCore
import MartletHTTP
import MartletHubAPI
import MartletModel

// Routes that show why a notification did or did not reach a device.
extension AdminAPI {
    func addTraces(to router: inout Router) {
        router.on(.get, "/hubs/{name}/messages/{id}/devices/{device}") { _, match in
            guard let hub = hubs.hub(named: match["name"]) else { return Self.refusal(.notFound(match["name"])) }
            let unknown = Self.unknownNotification
            guard let id = NotificationID(match["id"]) else { return unknown }
            do throws(StorageError) {
                guard let trace = try await traces.trace(id, of: match["device"], in: hub.id) else { return unknown }
                return HTTPResponse(.ok, json: TraceDocument(trace).json)
            } catch {
                return HTTPResponse(.serviceUnavailable, error: error.detail)
            }
        }
    }
}
