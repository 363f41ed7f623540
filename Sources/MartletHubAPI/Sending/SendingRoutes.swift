import MartletCore
import MartletHTTP
import MartletModel

/// Reads and changes a hub's settings for sends: the testers, and the app's name and icon. These routes are an
/// extension of Azure's API.
struct SendingRoutes: Sendable {
    let hubs: HubDirectory

    private static let bodyLimit = 16_384

    func add(to routes: inout HubRoutes) {
        routes.on(.get, "/{hub}/sending", needs: .manage, read)
        routes.on(.put, "/{hub}/sending", needs: .manage, bodyLimit: Self.bodyLimit, trials: .none, change)
    }

    @Sendable private func read(_ call: HubCall) async throws(HubAPIError) -> HTTPResponse {
        Self.answer(call.hub.settings.sending)
    }

    /// Replaces all settings for sends. A setting that the body does not name is removed.
    @Sendable private func change(_ call: HubCall) async throws(HubAPIError) -> HTTPResponse {
        let sending = try Self.settings(call.request.body)
        do throws(HubDirectoryError) {
            let hub = try await hubs.update(call.hub.name) { $0.sending = sending }
            return Self.answer(hub.settings.sending)
        } catch {
            throw HubAPIError(error)
        }
    }

    private static func settings(_ body: [UInt8]) throws(HubAPIError) -> SendingSettings {
        guard let members = try? JSON(parsing: body).object else {
            throw .badRequest("The body must be a JSON object such as {\"testers\": \"internal\"}")
        }
        var sending = SendingSettings()
        for (name, value) in members {
            switch name {
            case "testers": sending.testers = try text(value, name)
            case "app":
                guard value != .null else { continue }
                guard let app = value.object else { throw .badRequest("The member 'app' must be an object or null") }
                for (name, value) in app {
                    switch name {
                    case "name": sending.appName = try text(value, "app.name")
                    case "icon": sending.appIcon = try text(value, "app.icon")
                    default: throw unknown("app.\(name)")
                    }
                }
            default: throw unknown(name)
            }
        }
        return sending
    }

    private static func unknown(_ name: String) -> HubAPIError {
        .badRequest("There is no member '\(name.prefix(64))'; there are testers, app.name and app.icon")
    }

    private static func text(_ value: JSON, _ name: String) throws(HubAPIError) -> String? {
        if value == .null { return nil }
        guard let text = value.string else { throw .badRequest("The member '\(name)' must be a text or null") }
        return text
    }

    private static func answer(_ sending: SendingSettings) -> HTTPResponse {
        func text(_ text: String?) -> JSON { text.map(JSON.string) ?? .null }
        let json: JSON = [
            "testers": text(sending.testers),
            "app": ["name": text(sending.appName), "icon": text(sending.appIcon)],
        ]
        return HTTPResponse(
            .ok, fields: ["content-type": "application/json; charset=utf-8", "cache-control": "no-store"],
            body: .bytes(json.bytes))
    }
}
