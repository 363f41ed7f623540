import MartletModel
import MartletNetwork
import MartletPush

/// A fault that the simulator produces (PushServices.md, section 10.8).
enum Fault: Hashable, Sendable {
    /// The service answers with a fault that its own protocol can express. In most cases this is an error.
    case service(ServiceFault)
    /// The service's clock is ahead by this duration, or behind if the duration is negative.
    case clockSkew(Duration)
    /// The answer is delayed by this duration.
    case slow(Duration)
    /// The request is kept open and never answered.
    ///
    /// If `isStored` is true, the service still processes the request.
    case unanswered(isStored: Bool)
    /// The connection is reset.
    case reset(ResetStage)
    /// HTTP/2: the request's stream is reset.
    case resetStream(HTTP2ErrorCode)
    /// HTTP/2: a GOAWAY frame is sent on the connection.
    case goAway(GoAwayFault)
    /// HTTP/2: these limits on the number of open requests are announced one after the other, at the given interval.
    case streamLimits([UInt32], interval: Duration)
    /// HTTP/2: the flow-control window of each stream is this many bytes, and is not enlarged for the given duration.
    case smallWindow(bytes: UInt32, held: Duration)
    /// Nothing more is read from or sent on the connection.
    ///
    /// Over HTTP/1.1, only the current request is left unanswered.
    case blackHole
    /// The answer has a defect.
    case response(ResponseFault)
    /// The listener presents a wrong certificate.
    case tls(TLSFault)

    /// The stage of a request at which the connection is reset.
    enum ResetStage: String, CaseIterable {
        /// The connection is reset before its first request.
        case connect
        /// The connection is reset before the body of a request is read.
        case head
        /// The connection is reset while the body is being read.
        case body
        /// The connection is reset after the request was read.
        ///
        /// The service does not process the request.
        case request
        /// The connection is reset after the service has accepted the message.
        case stored
    }

    enum TLSFault: String, CaseIterable {
        case tlsWrongName
        case tlsExpired
        case tlsUntrusted
    }

    /// The point at which the simulator decides whether the fault happens, unless the rule sets another point.
    var trigger: FaultTrigger {
        switch self {
        case .tls: .accept
        case .smallWindow, .reset(.connect): .open
        case .reset(.head), .reset(.body): .head
        default: .request
        }
    }

    /// The fault applies only to requests to this endpoint, unless the rule sets another endpoint; nil for all
    /// endpoints.
    var endpoint: SimulatedSubject.Endpoint? {
        if case .service(let fault) = self { fault.name.endpoint } else { nil }
    }

    /// Whether a rule can apply the fault to a connection before its first request.
    var canMeetConnection: Bool {
        switch self {
        case .goAway, .streamLimits, .blackHole: true
        default: false
        }
    }

    /// The fault's name in counters.
    var name: String {
        switch self {
        case .service(let fault): fault.name.rawValue
        case .clockSkew: "clockSkew"
        case .slow: "slow"
        case .unanswered: "unanswered"
        case .reset: "reset"
        case .resetStream: "resetStream"
        case .goAway: "goAway"
        case .streamLimits: "streamLimit"
        case .smallWindow: "smallWindow"
        case .blackHole: "blackHole"
        case .response(let fault): fault.kind.rawValue
        case .tls(let fault): fault.rawValue
        }
    }
}

/// The point at which the simulator decides whether a fault happens.
enum FaultTrigger: Hashable, Sendable {
    /// When a connection was accepted, before its TLS handshake.
    case accept
    /// When a connection is open, before its first request.
    case open
    /// When the head of a request was read.
    case head
    /// When a whole request was read.
    case request
}

/// How a server sends GOAWAY (RFC 9113, section 6.8).
struct GoAwayFault: Hashable, Sendable {
    enum Last: Hashable, Sendable {
        /// Every request received so far is answered.
        case newest
        /// No request is answered.
        case none
        /// The given number of streams is not answered, counted back from the stream of the current request.
        ///
        /// A stream whose request the service has already judged is answered in any case.
        case before(Int)
    }

    enum Ending: String, CaseIterable {
        /// The connection is closed after the open requests are answered.
        case finish
        /// The connection is closed at once.
        case close
        /// The connection stays open, and new requests are ignored.
        case stay
    }

    enum DebugData: String, CaseIterable {
        case json
        case text
        case empty
    }

    var last = Last.newest
    var code = HTTP2ErrorCode.noError
    var reason = "Shutdown"
    var debugData = DebugData.json
    var ending = Ending.finish
    /// Whether another GOAWAY with the highest possible stream id is sent before this GOAWAY, as RFC 9113 advises for a
    /// graceful shutdown.
    var isDouble = false

    var debugBytes: [UInt8] {
        switch debugData {
        case .json: JSON.object(["reason": .string(reason)]).bytes
        case .text: Array(reason.utf8)
        case .empty: []
        }
    }
}

/// A defect of an answer.
struct ResponseFault: Hashable, Sendable {
    enum Kind: String, CaseIterable {
        /// The request reaches the service, but the body of the service's answer is cut off.
        case truncated
        /// The request reaches the service, but the body of the service's answer has another length than the answer
        /// declares.
        case wrongLength
        /// Something other than the service, such as a proxy, answers with an HTML page.
        case html
        /// Something other than the service, such as a proxy, answers with an empty body.
        case empty
        /// Something other than the service, such as a proxy, answers with a redirect.
        case redirect
    }

    var kind: Kind
    var status: Int
}
