import MartletCore
import MartletHTTP
import MartletModel
import MartletPush

/// A push service that only these tests know, written as the rules of a service are: it takes `POST /groups/{handle}`
/// with any body from anybody, and gives tokens that it never looks at, under `POST /token`.
struct Courier: PushServiceSimulator {
    static let platform = PlatformID(rawValue: "courier")
    static let faults: Set<ServiceFault.Name> = [.rateLimit, .deviceRateLimit, .unavailable, .unregistered, "strike"]

    var devices = SimulatedDevices()
    private(set) var counters: [String: Int] = [:]

    func subject(of request: HTTPRequest) -> SimulatedSubject {
        guard let handle = handle(request) else { return SimulatedSubject(.token) }
        return SimulatedSubject(
            .send, app: request.fields["app"] ?? "app", handle: handle, marker: HandleMarker(endOf: handle))
    }

    mutating func answer(_ request: HTTPRequest, at now: Timestamp) -> SimulatedAnswer {
        counters["requests", default: 0] += 1
        guard let handle = handle(request) else {
            return SimulatedAnswer(HTTPResponse(.ok, body: .bytes(Array("token".utf8))))
        }
        counters["taken.\(handle)", default: 0] += 1
        return SimulatedAnswer(HTTPResponse(.ok, body: .bytes(Array("taken \(request.body.count)".utf8))))
    }

    mutating func answer(_ request: HTTPRequest, fault: ServiceFault, at now: Timestamp) -> SimulatedAnswer {
        if fault.isDelivered { _ = answer(request, at: now) }
        var fields: HTTPFields = [:]
        fields["retry-after"] = fault.retryAfter?.value(at: now)
        let status: HTTPStatus =
            switch fault.name {
            case .rateLimit, .deviceRateLimit: .tooManyRequests
            case .unregistered: .gone
            default: .serviceUnavailable
            }
        return SimulatedAnswer(HTTPResponse(status, fields: fields, body: .bytes(Array(fault.name.rawValue.utf8))))
    }

    mutating func register(app: JSON) throws(SimulatorError) {
        throw SimulatorError("A courier takes parcels of anybody.")
    }

    mutating func issueCredential(origin: HTTPOrigin, authorityPEM: String) throws(SimulatorError) -> Credential {
        Credential(["Endpoint": origin.description])
    }

    mutating func addDevice(_ description: JSON) throws(SimulatorError) -> String {
        throw SimulatorError("Every handle is a courier's device.")
    }

    private func handle(_ request: HTTPRequest) -> String? {
        let prefix = "/parcels/"
        return request.target.hasPrefix(prefix) ? String(request.target.dropFirst(prefix.count)) : nil
    }
}
