/// A fault that a test requests with a marker at the end of a handle.
///
/// Tests use markers if they cannot reach the control interface (PushServices.md, section 10.1). The handle then ends
/// in `~unregistered`, `~unknown`, `~throttle3`, `~error`, `~unavailable`, `~slow5000` or `~reset`.
///
/// APNs tokens cannot contain a tilde, so the simulator of APNs has markers of its own (`APNsMarker`).
public enum HandleMarker: Hashable, Sendable {
    case unregistered
    case unknown
    /// Throttles this number of pushes to the handle, then accepts all further pushes.
    case throttle(Int)
    case error
    case unavailable
    /// Delays the answer by this number of milliseconds.
    case slow(Int)
    /// Cuts the connection.
    case reset

    private static let slownessLimit = 60_000

    /// Parses the text after the last tilde of a handle; nil if it is not a marker.
    public init?(endOf handle: some StringProtocol) {
        guard let tilde = handle.lastIndex(of: "~") else { return nil }
        let text = handle[handle.index(after: tilde)...]
        switch text {
        case "unregistered": self = .unregistered
        case "unknown": self = .unknown
        case "error": self = .error
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

    /// The fault that the service answers with; nil for `slow`, which only delays the answer, and for `reset`, after
    /// which there is no answer.
    public var fault: ServiceFault? {
        switch self {
        case .unregistered: ServiceFault(.unregistered)
        case .unknown: ServiceFault(.unknownHandle)
        case .throttle: ServiceFault(.deviceRateLimit)
        case .error: ServiceFault(.internalError)
        case .unavailable: ServiceFault(.unavailable)
        case .slow, .reset: nil
        }
    }
}
