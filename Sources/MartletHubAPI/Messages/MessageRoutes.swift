import MartletCore
import MartletHTTP
import MartletModel

/// Sending (wire document, section 6).
struct MessageRoutes: Sendable {
    let notifications: NotificationIntake
    let platforms: PushPlatformList
    let repeats: RepeatedSends

    func add(to routes: inout HubRoutes) {
        routes.on(.post, "/{hub}/messages", needs: .send, bodyLimit: SendRequest.sizeLimit, send)
    }

    @Sendable private func send(_ call: HubCall) async throws(HubAPIError) -> HTTPResponse {
        let target = call.match.target
        guard !target.flag("test") else { throw .badRequest("This server does not serve test sends yet") }
        let isDirect = target.flag("direct")
        let id = try await accept(try SendRequest(call.request, isDirect: isDirect, platforms: platforms), of: call)
        let query = call.versionQuery + (isDirect ? "&direct" : "")
        let fields: HTTPFields = [
            "location": call.url("messages", id.description) + query,
            "content-type": "application/xml; charset=utf-8",
        ]
        return HTTPResponse(.created, fields: fields)
    }

    /// Accepts a send once, however often a client that names its requests repeats it.
    private func accept(_ send: SendRequest, of call: HubCall) async throws(HubAPIError) -> NotificationID {
        guard let tracking = TrackingID.sent(with: call.request) else {
            return try await store(send, in: call.hub.id)
        }
        let key = RepeatedSends.Key(call.request, tracking: tracking, hub: call.hub.id)
        switch repeats.begin(key) {
        case .accepted(let id): return id
        case .underway: throw .busy("This very send is being taken right now", retryAfter: 1)
        case .new:
            do throws(HubAPIError) {
                let id = try await store(send, in: call.hub.id)
                repeats.end(key, id)
                return id
            } catch {
                repeats.end(key, nil)
                throw error
            }
        }
    }

    private func store(_ send: SendRequest, in hub: Hub.ID) async throws(HubAPIError) -> NotificationID {
        do throws(NotificationIntakeError) {
            return try await notifications.accept(.native(send.platform, send.message), to: send.target, in: hub)
        } catch {
            throw HubAPIError(error)
        }
    }
}
