import MartletHTTP
import MartletModel
import MartletPush

/// The control interface: JSON under `/simulator/`.
///
/// - `POST /simulator/apps` with `platform` and what the platform wants to know of an app: 204.
/// - `POST /simulator/devices` with `platform` and what the platform wants to know of a device: 201 with `handle`.
/// - `GET /simulator/devices/{handle}`: what became of the device and what came for it.
/// - `GET /simulator/devices/{handle}/events`: server-sent events, one for each notification.
/// - `DELETE /simulator/devices/{handle}`: the app leaves the device; 204.
/// - `GET /simulator/counters`: how often what happened, for each platform.
struct ControlRoutes {
    private static let bodyLimit = 16 * 1024

    let state: SimulatorState

    var router: Router {
        var router = Router { _, refusal in
            switch refusal {
            case .badTarget: Self.refuse(.badRequest, "The path is not one that a URL can have.")
            case .notFound: Self.refuse(.notFound, "There is nothing here; the control interface is /simulator/….")
            case .methodNotAllowed: Self.refuse(.methodNotAllowed, "This path wants another method.")
            }
        }
        let state = state
        router.on(.post, "/simulator/apps", bodyLimit: Self.bodyLimit) { request, _ in
            Self.answer { () throws(SimulatorError) in
                let body = try Self.body(request)
                try state.with(try Self.platform(body)) { (rules) throws(SimulatorError) in
                    try rules.register(app: body)
                }
                return HTTPResponse(.noContent)
            }
        }
        router.on(.post, "/simulator/devices", bodyLimit: Self.bodyLimit) { request, _ in
            Self.answer { () throws(SimulatorError) in
                let body = try Self.body(request)
                let platform = try Self.platform(body)
                let handle = try state.with(platform) { (rules) throws(SimulatorError) in
                    try rules.addDevice(body)
                }
                return Self.json(
                    ["platform": .string(platform.rawValue), "handle": .string(handle)], status: .created)
            }
        }
        router.on(.get, "/simulator/devices/{handle}") { _, match in
            guard let (platform, device) = state.device(match["handle"]) else { return Self.unknownDevice }
            return Self.json(Self.description(of: device, on: platform))
        }
        router.on(.delete, "/simulator/devices/{handle}") { _, match in
            state.remove(match["handle"]) ? HTTPResponse(.noContent) : Self.unknownDevice
        }
        router.on(.get, "/simulator/devices/{handle}/events") { _, match in
            guard let (_, device) = state.device(match["handle"]), device.removedAt == nil else {
                return Self.unknownDevice
            }
            return EventStream(state: state, handle: match["handle"]).response
        }
        router.on(.get, "/simulator/counters") { _, _ in
            let counters = state.counters.map { platform, counters in
                (platform.rawValue, JSON.object(counters.mapValues { .integer(Int64($0)) }))
            }
            return Self.json(.object(Dictionary(counters) { first, _ in first }))
        }
        return router
    }

    private static var unknownDevice: HTTPResponse {
        refuse(.notFound, "No device with this handle was handed out, or its app was removed.")
    }

    private static func body(_ request: HTTPRequest) throws(SimulatorError) -> JSON {
        do throws(JSONError) {
            return try JSON(parsing: request.body, maximumDepth: 8)
        } catch {
            throw SimulatorError(error.description)
        }
    }

    private static func platform(_ body: JSON) throws(SimulatorError) -> PlatformID {
        guard let name = body["platform"]?.string else { throw SimulatorError("\"platform\" must be a text.") }
        return PlatformID(rawValue: name)
    }

    private static func description(of device: SimulatedDevices.Device, on platform: PlatformID) -> JSON {
        var members: [String: JSON] = [
            "platform": .string(platform.rawValue), "app": .string(device.app),
            "accepted": .integer(Int64(device.accepted)), "inbox": .array(device.inbox.map(\.json)),
        ]
        if let removedAt = device.removedAt { members["removedAt"] = .string(removedAt.iso8601) }
        return .object(members)
    }

    private static func answer(_ body: () throws(SimulatorError) -> HTTPResponse) -> HTTPResponse {
        do throws(SimulatorError) {
            return try body()
        } catch {
            return refuse(.badRequest, error.description)
        }
    }

    private static func refuse(_ status: HTTPStatus, _ sentence: String) -> HTTPResponse {
        json(["error": .string(sentence)], status: status)
    }

    private static func json(_ body: JSON, status: HTTPStatus = .ok) -> HTTPResponse {
        HTTPResponse(status, fields: ["content-type": "application/json"], body: .bytes(body.bytes))
    }
}
