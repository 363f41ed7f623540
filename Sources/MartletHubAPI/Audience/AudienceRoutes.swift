import MartletCore
import MartletHTTP
import MartletModel

/// Counts the audience of a send. This route is an extension of Azure's API. It requires the Manage right, because the
/// count reveals data about devices.
struct AudienceRoutes: Sendable {
    let devices: DeviceRegistry
    let platforms: PushPlatformList

    func add(to routes: inout HubRoutes) {
        routes.on(.get, "/{hub}/audience", needs: .manage, count)
    }

    @Sendable private func count(_ call: HubCall) async throws(HubAPIError) -> HTTPResponse {
        let request = try AudienceRequest(call.match.target, platforms)
        let count: AudienceCount
        do throws(StorageError) {
            count = try await devices.count(
                request.expression, in: call.hub.id, platform: request.platform, kind: request.kind)
        } catch {
            throw HubAPIError(error)
        }
        return HTTPResponse(
            .ok, fields: ["content-type": "application/json; charset=utf-8", "cache-control": "no-store"],
            body: .bytes(AudienceDocument(count).json.bytes))
    }
}
