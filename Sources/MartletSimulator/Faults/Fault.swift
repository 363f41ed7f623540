import MartletModel
import MartletNetwork
import MartletPush

/// A fault that the simulator produces (PushServices.md, section 10.8).
enum Fault: Hashable, Sendable {
    /// The service answers with an error of its own protocol.
    case service(ServiceFault)
    /// The service's clock is ahead by this duration.
    case clockSkew(Duration)
    /// The answer is delayed by this duration.
    case slow(Duration)
    /// The request is kept open and never answered.
    case unanswered(isStored: Bool)
    /// The connection is reset.
    case reset(ResetStage)
    /// HTTP/2: the request's stream is reset.
    case resetStream(HTTP2ErrorCode)
    /// HTTP/2: a GOAWAY frame is sent on the connection.
    case goAway(GoAwayFault)
    /// HTTP/2: limits on the number of open requests, announced one after the other.
    case streamLimits([UInt32], interval: Duration)
    /// HTTP/2: request bodies are limited to this many bytes until the duration has passed.
    case smallWindow(bytes: UInt32, held: Duration)
    /// Nothing is read or sent anymore.
    case blackHole
    /// The answer is not what it should be.
    case response(ResponseFault)
    /// The listener presents another certificate.
    case tls(TLSFault)

    /// The stage of a request at which the connection is reset.
    enum ResetStage: String, CaseIterable {
        /// Before the first request.
        case connect
        /// Before the body of a request.
        case head
        /// In the middle of the body.
        case body
        /// After the request was read; the service does not process it.
        case request
        /// After the service has accepted the message.
        case stored
    }

    enum TLSFault: String, CaseIterable {
        case tlsWrongName
        case tlsExpired
        case tlsUntrusted
    }

    /// The default time at which it is decided whether the fault happens, unless the rule sets another.
    var timestamp: FaultTrigger {
        switch self {
        case .tls: .accept
        case .smallWindow, .reset(.connect): .open
        case .reset(.head), .reset(.body): .head
        default: .request
        }
    }

    /// The default endpoint whose requests the fault applies to, unless the rule sets another; nil for all.
    var endpoint: SimulatedSubject.Endpoint? {
        if case .service(let fault) = self { fault.name.endpoint } else { nil }
    }

    /// Whether the fault can also happen to a connection before its first request.
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

/// The time at which it is decided whether a fault happens.
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
        /// The newest streams, this many including the current one, are not answered, unless the service has already
        /// judged their requests.
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
    /// Whether another GOAWAY, with the highest possible stream id, is sent first.
    var isDouble = false

    var debugBytes: [UInt8] {
        switch debugData {
        case .json: JSON.object(["reason": .string(reason)]).bytes
        case .text: Array(reason.utf8)
        case .empty: []
        }
    }
}

/// The defect of an answer.
struct ResponseFault: Hashable, Sendable {
    enum Kind: String, CaseIterable {
        /// The service has accepted the message; the body of its answer is cut off.
        case truncated
        /// The service has accepted the message; its answer has a different length than it declares.
        case wrongLength
        /// Something other than the service answers, with an HTML page.
        case html
        /// Something other than the service answers, with an empty response.
        case empty
        /// Something other than the service answers, with a redirect.
        case redirect
    }

    var kind: Kind
    var status: Int
}
