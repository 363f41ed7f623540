import MartletHTTP
import MartletModel

/// A fault that a device token asks for by its last eight digits, for tests that cannot reach the control interface
/// (push services document, section 10.1).
enum APNsMarker: String, CaseIterable {
    case unregistered = "dead0410"
    case badDeviceToken = "dead0400"
    /// Twice, then it is accepted.
    case tooManyRequests = "dead0429"
    case internalServerError = "dead0500"
    case serviceUnavailable = "dead0503"
    /// The connection is cut.
    case connectionCut = "deadc105"
    /// The answer takes its time.
    case slow = "dead5109"

    static let slowness: Duration = .seconds(5)

    init?(endOf token: String) {
        self.init(rawValue: String(token.suffix(8)))
    }

    /// - Parameter attempts: How often the token was tried before.
    func refusal(attempts: Int, at now: Timestamp) -> APNsRefusal? {
        switch self {
        case .unregistered: APNsRefusal(.gone, "Unregistered", timestamp: now)
        case .badDeviceToken: APNsRefusal(.badRequest, "BadDeviceToken")
        case .tooManyRequests: attempts < 2 ? APNsRefusal(.tooManyRequests, "TooManyRequests") : nil
        case .internalServerError: APNsRefusal(.internalServerError, "InternalServerError")
        case .serviceUnavailable: APNsRefusal(.serviceUnavailable, "ServiceUnavailable")
        case .connectionCut: APNsRefusal(.serviceUnavailable, "Shutdown", steps: [.cut])
        case .slow: nil
        }
    }
}
