import MartletHTTP
import MartletModel
import MartletPush

/// The control interface of the simulator.
///
/// The interface has a page for people at `/`. Under `/simulator/`, it uses JSON, as described in `Docs/Simulator.md`.
struct ControlRoutes {
    static let bodyLimit = 16 * 1024

    let state: SimulatorState

    var router: Router {
        var router = Router { _, refusal in
            switch refusal {
            case .badTarget: Self.refuse(.badRequest, "The path is not one that a URL can have.")
            case .notFound: Self.refuse(.notFound, "There is nothing here; the control interface is /simulator/….")
            case .methodNotAllowed: Self.refuse(.methodNotAllowed, "This path wants another method.")
            }
        }
        addServices(to: &router)
        addDevices(to: &router)
        addSockets(to: &router)
        addFaults(to: &router)
        return router
    }

    private func addServices(to router: inout Router) {
        let state = state
        router.on(.get, "/") { _, _ in DevicePage(state: state).response }
        router.on(.get, "/simulator/services") { _, _ in
            Self.json(
                state.withContents { contents, _ in
                    JSON.object(
                        Dictionary(contents.services.map { ($0.platform.rawValue, Self.description(of: $0)) }) { $1 })
                })
        }
        router.on(.get, "/simulator/counters") { _, _ in
            Self.json(
                state.withContents { contents, _ in
                    JSON.object(
                        Dictionary(
                            contents.services.map { service in
                                let counters = service.counters.mapValues { JSON.integer(Int64($0)) }
                                return (service.platform.rawValue, JSON.object(counters))
                            }
                        ) { $1 })
                })
        }
        router.on(.post, "/simulator/apps", bodyLimit: Self.bodyLimit) { request, _ in
            Self.answer { () throws(SimulatorError) in
                let body = try Self.body(request)
                try state.with(try Self.platform(body)) { (service) throws(SimulatorError) in
                    try service.rules.register(app: body)
                }
                return HTTPResponse(.noContent)
            }
        }
        router.on(.post, "/simulator/reset") { _, _ in
            state.reset()
            return HTTPResponse(.noContent)
        }
    }

    private func addDevices(to router: inout Router) {
        let state = state
        router.on(.post, "/simulator/devices", bodyLimit: Self.bodyLimit) { request, _ in
            Self.answer { () throws(SimulatorError) in
                let body = try Self.body(request)
                let platform = try Self.platform(body)
                let handle = try state.with(platform) { (service) throws(SimulatorError) in
                    try service.rules.addDevice(body)
                }
                return Self.json(
                    ["platform": .string(platform.rawValue), "handle": .string(handle)], status: .created)
            }
        }
        // Some handles cannot be a path segment, because they are URLs or contain URLs. These handles are passed in the
        // query.
        for path in ["/simulator/devices/{handle}", "/simulator/device"] {
            router.on(.get, path) { _, match in
                guard let (platform, device) = state.device(Self.handle(match)) else { return Self.unknownDevice }
                return Self.json(Self.description(of: device, on: platform))
            }
            router.on(.delete, path) { _, match in
                state.remove(Self.handle(match)) ? HTTPResponse(.noContent) : Self.unknownDevice
            }
            router.on(.get, path + "/events") { _, match in
                guard let (_, device) = state.device(Self.handle(match)), device.removedAt == nil else {
                    return Self.unknownDevice
                }
                return EventStream(state: state, handle: Self.handle(match)).response
            }
        }
    }

    private static func handle(_ match: RouteMatch) -> String {
        match.target.item("handle")?.value ?? match["handle"]
    }

    private static func description(of service: SimulatedService) -> JSON {
        var members: [String: JSON] = [
            "origin": .string(service.origin?.description ?? ""),
            "credential": .object(service.credential.mapValues(JSON.string)),
            "faults": .array(type(of: service.rules).faults.map(\.rawValue).sorted().map(JSON.string)),
        ]
        if let url = service.socketURL { members["sockets"] = .string(url) }
        return .object(members)
    }

    private static var unknownDevice: HTTPResponse {
        refuse(.notFound, "No device with this handle was handed out, or its app was removed.")
    }

    static func body(_ request: HTTPRequest) throws(SimulatorError) -> JSON {
        do throws(JSONError) {
            return try JSON(parsing: request.body, maximumDepth: 8)
        } catch {
            throw SimulatorError(error.description)
        }
    }

    static func platform(_ body: JSON) throws(SimulatorError) -> PlatformID {
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

    static func answer(_ body: () throws(SimulatorError) -> HTTPResponse) -> HTTPResponse {
        do throws(SimulatorError) {
            return try body()
        } catch {
            return refuse(.badRequest, error.description)
        }
    }

    static func refuse(_ status: HTTPStatus, _ sentence: String) -> HTTPResponse {
        json(["error": .string(sentence)], status: status)
    }

    static func json(_ body: JSON, status: HTTPStatus = .ok) -> HTTPResponse {
        HTTPResponse(status, fields: ["content-type": "application/json"], body: .bytes(body.bytes))
    }
}
