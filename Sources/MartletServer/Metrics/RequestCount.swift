import MartletHTTP
import MartletNetwork
import Synchronization

/// Counts the requests that were answered since the start of the process, and the open connections of clients.
final class RequestCount: Sendable {
    /// The parts of a server that answer requests.
    enum Area: String, Sendable {
        case hub
        case backend
        case containers
        case health
        case metrics
        case admin
        case console
    }

    private struct Key: Hashable {
        var area: Area
        /// The first digit of the status code, such as 2 for 200 and 204.
        var hundreds: UInt16
    }

    private struct Listener {
        let name: String
        weak let server: HTTPServer?
    }

    private let counts = Mutex<[Key: Int]>([:])
    /// The numbers of answers with the status code 429 or 507, by area and status code.
    private let refusals = Mutex<[Area: [Int: Int]]>([:])
    private let listeners = Mutex<[Listener]>([])

    func add(_ status: HTTPStatus, _ area: Area) {
        counts.withLock { $0[Key(area: area, hundreds: UInt16(status.code) / 100), default: 0] += 1 }
        guard status == .tooManyRequests || status == .insufficientStorage else { return }
        refusals.withLock { $0[area, default: [:]][status.code, default: 0] += 1 }
    }

    /// Includes the connections and bodies of a listener in the metrics from now on.
    /// - Parameter name: The name of the listener in the metrics.
    func watch(_ name: String, _ server: HTTPServer) {
        listeners.withLock { $0.append(Listener(name: name, server: server)) }
    }

    /// Returns a handler that passes requests on to `handler` and counts the answers.
    func counting(_ handler: any HTTPHandler, _ area: Area) -> any HTTPHandler {
        CountingHandler(handler: handler, area: area, count: self)
    }

    var samples: [(labels: [String], value: Double)] {
        let counts = counts.withLock { $0 }
        return counts.map { (labels: [$0.area.rawValue, "\($0.hundreds)xx"], value: Double($1)) }
            .sorted { $0.labels.lexicographicallyPrecedes($1.labels) }
    }

    var refused: [(labels: [String], value: Double)] {
        let refusals = refusals.withLock { $0 }
        return refusals.flatMap { area, codes in
            codes.map { (labels: [area.rawValue, String($0)], value: Double($1)) }
        }.sorted { $0.labels.lexicographicallyPrecedes($1.labels) }
    }

    var connections: [(labels: [String], value: Double)] { figures(\.connectionCount) }
    var refusedConnections: [(labels: [String], value: Double)] {
        listeners.withLock { $0 }.flatMap { listener in
            let refusals = listener.server?.connectionRefusals ?? [:]
            return ConnectionRefusal.allCases.map { reason in
                ([listener.name, reason.rawValue], Double(refusals[reason] ?? 0))
            }
        }
    }
    var bodyBytes: [(labels: [String], value: Double)] { figures(\.bodyBytes) }
    var answerBytes: [(labels: [String], value: Double)] { figures(\.answerBytes) }
    var refusedBodies: [(labels: [String], value: Double)] { figures(\.bodyRefusals) }

    private func figures(_ figure: KeyPath<HTTPServer, Int>) -> [(labels: [String], value: Double)] {
        listeners.withLock { $0 }.map { ([$0.name], Double($0.server?[keyPath: figure] ?? 0)) }
    }
}

private struct CountingHandler: HTTPHandler {
    let handler: any HTTPHandler
    let area: RequestCount.Area
    let count: RequestCount

    func route(for head: HTTPRequest) -> HTTPRoute {
        var route = handler.route(for: head)
        route.respond = { [respond = route.respond] request in
            let response = await respond(request)
            count.add(response.status, area)
            return response
        }
        return route
    }
}
