import MartletCore
import MartletCrypto
import MartletHTTP
import MartletModel
import Synchronization

/// Adds the field `Request-Id` to every answer, and writes the access log.
final class RequestLog: Sendable {
    static let field = "request-id"

    private let log: Log
    private let time: any TimeSource
    private let kind: Mutex<AccessLog>
    private let budget = Mutex(LineBudget())

    init(_ kind: AccessLog, log: Log, time: any TimeSource) {
        self.kind = Mutex(kind)
        self.log = log
        self.time = time
    }

    func use(_ kind: AccessLog) {
        self.kind.withLock { $0 = kind }
    }

    func logging(_ handler: any HTTPHandler, _ area: RequestCount.Area) -> any HTTPHandler {
        LoggingHandler(handler: handler, area: area, log: self)
    }

    /// Returns the request id of an answer, and adds the field `Request-Id` to the answer.
    ///
    /// If the hub's API has set the field `TrackingId`, its value is the request id. Otherwise a new id is generated.
    fileprivate func name(_ response: inout HTTPResponse) -> String {
        if let id = response.fields[Self.field] { return id }
        let id = response.fields["trackingid"] ?? Hex.encode(RandomBytes.generate(16))
        response.fields[Self.field] = id
        return id
    }

    fileprivate func write(
        _ request: HTTPRequest, _ response: HTTPResponse, id: String, route: String?, area: RequestCount.Area,
        since start: ContinuousClock.Instant
    ) {
        let isChange = area == .admin && request.method != .get && request.connection?.user != nil
        guard isChange || kind.withLock({ $0.includes(status: response.status.code) }) else { return }
        let (isWritten, dropped) = budget.withLock { $0.take(at: time.now) }
        if dropped > 0 {
            log.write(.warning, "Requests were left out of the log.", ["count": .integer(Int64(dropped))])
        }
        guard isWritten else { return }
        log.write(
            response.status.code >= 500 ? .warning : .info, isChange ? "administration" : "request",
            Self.fields(request, response, id: id, route: route, area: area, took: .now - start))
    }

    /// Returns the fields of a log line.
    ///
    /// The path is not logged, because paths contain handles and tags. `traceparent` is the only header field of the
    /// caller that is logged.
    static func fields(
        _ request: HTTPRequest, _ response: HTTPResponse, id: String, route: String?, area: RequestCount.Area,
        took duration: Duration
    ) -> [String: JSON] {
        var fields: [String: JSON] = [
            "id": .string(id), "client": .string(request.clientAddress), "area": .string(area.rawValue),
            "method": .string(request.method.rawValue), "status": .integer(Int64(response.status.code)),
            "ms": .double((duration.inSeconds * 100_000).rounded() / 100), "in": .integer(Int64(request.body.count)),
        ]
        if let proxy = proxy(of: request) { fields["proxy"] = .string(proxy) }
        if let user = request.connection?.user { fields["uid"] = .integer(Int64(user)) }
        if let route { fields["route"] = .string(route) }
        if case .bytes(let bytes) = response.body { fields["out"] = .integer(Int64(bytes.count)) }
        if area == .hub, let hub = hub(of: request) { fields["hub"] = .string(hub) }
        if let trace = request.fields["traceparent"], isTrace(trace) { fields["trace"] = .string(trace) }
        return fields
    }

    /// Returns the address of the proxy that sent the request; `unix` for a proxy that connects to the Unix socket, and
    /// nil without a proxy.
    private static func proxy(of request: HTTPRequest) -> String? {
        guard let connection = request.connection else { return nil }
        if let proxy = connection.proxy { return proxy }
        guard request.forwarded != nil else { return nil }
        return connection.peer.isEmpty ? "unix" : connection.peer
    }

    /// Returns the hub's name from the path; nil if the first path segment is not a valid name.
    ///
    /// The segment is checked because any caller can put arbitrary text there.
    private static func hub(of request: HTTPRequest) -> String? {
        guard let name = HTTPTarget(request.target)?.segments.first, (1...64).contains(name.utf8.count) else {
            return nil
        }
        let isName = name.utf8.allSatisfy { byte in
            (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || byte == UInt8(ascii: "-")
                || byte == UInt8(ascii: ".")
                || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20) || byte == UInt8(ascii: "_")
        }
        return isName ? name : nil
    }

    /// Returns whether the text has the format of W3C Trace Context: 55 hexadecimal digits and hyphens.
    private static func isTrace(_ text: String) -> Bool {
        text.utf8.count == 55 && text.allSatisfy { $0.isHexDigit || $0 == "-" }
    }
}

private struct LoggingHandler: HTTPHandler {
    let handler: any HTTPHandler
    let area: RequestCount.Area
    let log: RequestLog

    func route(for head: HTTPRequest) -> HTTPRoute {
        let start = ContinuousClock.now
        var route = handler.route(for: head)
        let pattern = route.pattern
        route.respond = { [respond = route.respond] request in
            var response = await respond(request)
            let id = log.name(&response)
            log.write(request, response, id: id, route: pattern, area: area, since: start)
            return response
        }
        return route
    }
}
