import MartletModel
import MartletNetwork
import MartletPush

/// What goes wrong (PushServices.md, section 10.8).
enum Fault: Hashable, Sendable {
    /// The service says so in its own words.
    case service(ServiceFault)
    /// The service's clock is ahead by so much.
    case clockSkew(Duration)
    /// The answer takes so much longer.
    case slow(Duration)
    /// The request is held and never answered.
    case unanswered(isStored: Bool)
    /// The connection is reset.
    case reset(ResetStage)
    /// HTTP/2: the request's stream is reset.
    case resetStream(HTTP2ErrorCode)
    /// HTTP/2: the connection is said goodbye to.
    case goAway(GoAwayFault)
    /// HTTP/2: limits of open requests, one after the other.
    case streamLimits([UInt32], interval: Duration)
    /// HTTP/2: bodies may have so many bytes until some time has passed.
    case smallWindow(bytes: UInt32, held: Duration)
    /// Nothing is read or sent any more.
    case blackHole
    /// The answer is not what it ought to be.
    case response(ResponseFault)
    /// The listener shows another certificate.
    case tls(TLSFault)

    /// When the connection is reset, counted along a request.
    enum ResetStage: String, CaseIterable {
        /// Before the first request.
        case connect
        /// Before the body of a request.
        case head
        /// Within the body.
        case body
        /// After the request was read; it is not processed.
        case request
        /// After the service has taken the message.
        case stored
    }

    enum TLSFault: String, CaseIterable {
        case tlsWrongName
        case tlsExpired
        case tlsUntrusted
    }

    /// When it is decided whether the fault happens, where the rule says nothing else.
    var timestamp: FaultTrigger {
        switch self {
        case .tls: .accept
        case .smallWindow, .reset(.connect): .open
        case .reset(.head), .reset(.body): .head
        default: .request
        }
    }

    /// Which requests it is for where the rule says nothing else; nil for all.
    var endpoint: SimulatedSubject.Endpoint? {
        if case .service(let fault) = self { fault.name.endpoint } else { nil }
    }

    /// Whether it can also happen to a connection before its first request.
    var canMeetConnection: Bool {
        switch self {
        case .goAway, .streamLimits, .blackHole: true
        default: false
        }
    }

    /// What counters call it.
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

/// When it is decided whether a fault happens.
enum FaultTrigger: Hashable, Sendable {
    /// A connection was accepted; its TLS handshake is to come.
    case accept
    /// A connection is open; its first request is to come.
    case open
    /// The head of a request was read.
    case head
    /// A request was read.
    case request
}

/// How a server says goodbye (RFC 9113, section 6.8).
struct GoAwayFault: Hashable, Sendable {
    enum Last: Hashable, Sendable {
        /// Every request that has come is answered.
        case newest
        /// No request is.
        case none
        /// Those are that came so many streams before, or have been answered.
        case before(Int)
    }

    enum Ending: String, CaseIterable {
        /// The connection ends once the open requests are answered.
        case finish
        /// It ends at once.
        case close
        /// It stays open, and new requests are not heard.
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
    /// Whether a first one comes before it that names the highest stream there can be.
    var isDouble = false

    var debugBytes: [UInt8] {
        switch debugData {
        case .json: JSON.object(["reason": .string(reason)]).bytes
        case .text: Array(reason.utf8)
        case .empty: []
        }
    }
}

/// What is wrong with an answer.
struct ResponseFault: Hashable, Sendable {
    enum Kind: String, CaseIterable {
        /// The service has taken the message; its answer breaks off in the body.
        case truncated
        /// The service has taken the message; its answer has another length than it says.
        case wrongLength
        /// Something else answers, with a page for people.
        case html
        /// Something else answers, with nothing.
        case empty
        /// Something else answers and points elsewhere.
        case redirect
    }

    var kind: Kind
    var status: Int
}
