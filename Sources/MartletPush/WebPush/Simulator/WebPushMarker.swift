import MartletHTTP

/// A fault that an endpoint asks for at its end, behind a tilde, for tests that cannot reach the control interface (push
/// services document, section 10.1): `…~unregistered`, `…~throttle3`, `…~unavailable`, `…~slow5000`, `…~reset`.
enum WebPushMarker: Equatable {
    case unregistered
    /// So often, then it is accepted.
    case throttle(Int)
    case unavailable
    /// The answer takes so many milliseconds.
    case slow(Int)
    /// The connection is cut.
    case reset

    /// The longest that an answer is delayed, in milliseconds.
    private static let slownessLimit = 60_000

    init?(_ text: some StringProtocol) {
        switch text {
        case "unregistered": self = .unregistered
        case "unavailable": self = .unavailable
        case "reset": self = .reset
        default:
            if text.hasPrefix("throttle"), let times = Int(text.dropFirst("throttle".count)), times >= 0 {
                self = .throttle(times)
            } else if text.hasPrefix("slow"), let time = Int(text.dropFirst("slow".count)),
                (0...Self.slownessLimit).contains(time)
            {
                self = .slow(time)
            } else {
                return nil
            }
        }
    }

    /// - Parameter attempts: How often the endpoint was tried before.
    func refusal(attempts: Int) -> WebPushRefusal? {
        switch self {
        case .unregistered: .gone
        case .throttle(let times): attempts < times ? .tooMany(retryAfter: 1) : nil
        case .unavailable: .failing(.serviceUnavailable, retryAfter: nil)
        case .reset: .failing(.serviceUnavailable, retryAfter: nil)
        case .slow: nil
        }
    }

    var delay: Duration {
        if case .slow(let time) = self { .milliseconds(time) } else { .zero }
    }
}
