import MartletNetwork
import MartletPush

/// Reads faults from the JSON of rules.
extension Fault {
    /// Reads the fault's name and parameters from the members of a rule.
    ///
    /// A name that is not the name of a network fault is read as the name of a fault of the service's own protocol
    /// (`ServiceFault`).
    init(_ members: inout FaultMembers) throws(SimulatorError) {
        guard let name = try members.text("fault") else { throw SimulatorError("\"fault\" is missing.") }
        if let kind = ResponseFault.Kind(rawValue: name) {
            self = .response(ResponseFault(kind: kind, status: try members.integer("status", 200...599) ?? kind.status))
        } else if let kind = TLSFault(rawValue: name) {
            self = .tls(kind)
        } else {
            self = try Self.named(name, &members)
        }
    }

    private static func named(_ name: String, _ members: inout FaultMembers) throws(SimulatorError) -> Fault {
        switch name {
        case "slow": .slow(try members.milliseconds("delay") ?? .seconds(5))
        case "unanswered": .unanswered(isStored: try members.flag("stored"))
        case "clockSkew": .clockSkew(.seconds(try members.integer("offset", -86_400...86_400) ?? 600))
        case "reset":
            .reset(try members.choice("at", ResetStage.allCases.map(\.rawValue)).flatMap(ResetStage.init) ?? .request)
        case "resetStream":
            .resetStream(try members.choice("code", codes.keys.sorted()).flatMap { codes[$0] } ?? .refusedStream)
        case "goAway": .goAway(try goAway(&members))
        case "streamLimit":
            .streamLimits(
                (try members.integers("limits", 0...1_000_000, limit: 100) ?? [1]).map(UInt32.init),
                interval: try members.milliseconds("interval") ?? .seconds(1))
        case "smallWindow":
            .smallWindow(
                bytes: UInt32(try members.integer("bytes", 0...65_535) ?? 0),
                held: try members.milliseconds("delay") ?? .seconds(5))
        case "blackHole": .blackHole
        default: .service(try service(name, &members))
        }
    }

    private static func goAway(_ members: inout FaultMembers) throws(SimulatorError) -> GoAwayFault {
        var fault = GoAwayFault()
        if try members.flag("none") { fault.last = .none }
        if let count = try members.integer("before", 1...1000) { fault.last = .before(count) }
        fault.code = try members.choice("code", codes.keys.sorted()).flatMap { codes[$0] } ?? fault.code
        fault.reason = try members.text("reason") ?? fault.reason
        fault.debugData =
            try members.choice("debug", GoAwayFault.DebugData.allCases.map(\.rawValue))
            .flatMap(GoAwayFault.DebugData.init) ?? fault.debugData
        fault.ending =
            try members.choice("then", GoAwayFault.Ending.allCases.map(\.rawValue))
            .flatMap(GoAwayFault.Ending.init) ?? fault.ending
        fault.isDouble = try members.flag("twice")
        return fault
    }

    private static func service(_ name: String, _ members: inout FaultMembers) throws(SimulatorError) -> ServiceFault {
        let isDate = try members.choice("form", ["seconds", "date"]) == "date"
        let retryAfter = try members.integer("retryAfter", 0...86_400)
        return ServiceFault(
            ServiceFault.Name(rawValue: name), retryAfter: retryAfter.map { isDate ? .date($0) : .seconds($0) },
            age: try members.integer("age", 0...1_000_000_000), isSticky: try members.flag("sticky"),
            isDelivered: try members.flag("delivered"))
    }

    /// The HTTP/2 error codes by name (RFC 9113, section 7).
    private static let codes: [String: HTTP2ErrorCode] = [
        "NO_ERROR": .noError, "PROTOCOL_ERROR": .protocolError, "INTERNAL_ERROR": .internalError,
        "REFUSED_STREAM": .refusedStream, "CANCEL": .cancel, "ENHANCE_YOUR_CALM": .enhanceYourCalm,
    ]
}

extension ResponseFault.Kind {
    fileprivate var status: Int {
        switch self {
        case .truncated, .wrongLength, .empty: 200
        case .html: 502
        case .redirect: 302
        }
    }
}
