/// A fault that a test requests with the last eight digits of a device token.
///
/// Tests use markers if they cannot reach the control interface (PushServices.md, section 10.1).
enum APNsMarker: String, CaseIterable {
    case unregistered = "dead0410"
    case badDeviceToken = "dead0400"
    /// Refuses the first two pushes with TooManyRequests, then accepts all further pushes.
    case tooManyRequests = "dead0429"
    case internalServerError = "dead0500"
    case serviceUnavailable = "dead0503"
    /// Cuts the connection.
    case connectionCut = "deadc105"
    /// Delays the answer by five seconds.
    case slow = "dead5109"

    init?(endOf token: String) {
        self.init(rawValue: String(token.suffix(8)))
    }

    var marker: HandleMarker {
        switch self {
        case .unregistered: .unregistered
        case .badDeviceToken: .unknown
        case .tooManyRequests: .throttle(2)
        case .internalServerError: .error
        case .serviceUnavailable: .unavailable
        case .connectionCut: .reset
        case .slow: .slow(5000)
        }
    }
}
