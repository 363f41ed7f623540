import MartletHTTP

/// An answer of the service that does not confirm the receipt of the message (PushServices.md, sections 3.4 and 10.4).
enum WNSRefusal: String, Error, CaseIterable {
    case method = "MethodNotAllowed"
    case badToken = "BadToken"
    case unknownChannel = "UnknownChannel"
    case otherApp = "OtherApp"
    case expiredChannel = "ExpiredChannel"
    case domainBlocked = "DomainBlocked"
    case badRequest = "BadRequest"
    case tooLarge = "PayloadTooLarge"
    case appThrottled = "AppThrottled"
    case channelThrottled = "ChannelThrottled"
    case dropped = "Dropped"
    case deviceUnreachable = "DeviceUnreachable"
    case failing = "InternalServerError"
    case unavailable = "ServiceUnavailable"
    /// An answer with a reason that no sender knows, to test how senders treat it.
    case unknownReason = "NothingYouKnow"

    /// Returns the answer for this refusal.
    /// - Parameters:
    ///   - description: A text that says what is wrong with the request; nil for the usual text of this refusal.
    ///   - retryAfter: The value of the `retry-after` field.
    func response(_ description: String? = nil, retryAfter: String? = nil) -> HTTPResponse {
        var response = HTTPResponse(status)
        response.fields["x-wns-status"] = notificationStatus
        response.fields["x-wns-error-description"] = description ?? self.description
        response.fields["retry-after"] = retryAfter
        return response
    }

    private var status: HTTPStatus {
        switch self {
        case .method: .methodNotAllowed
        case .badToken: .unauthorized
        case .unknownChannel: .notFound
        case .otherApp: .forbidden
        case .expiredChannel, .domainBlocked: .gone
        case .badRequest: .badRequest
        case .tooLarge: .contentTooLarge
        case .appThrottled: 406
        case .channelThrottled, .dropped: .ok
        case .deviceUnreachable: .preconditionFailed
        case .failing: .internalServerError
        case .unavailable: .serviceUnavailable
        case .unknownReason: 418
        }
    }

    private var notificationStatus: String? {
        switch self {
        case .channelThrottled: "channelthrottled"
        case .dropped, .appThrottled: "dropped"
        default: nil
        }
    }

    private var description: String? {
        switch self {
        case .badToken: "The token is missing, unknown or expired"
        case .unknownChannel: "The channel is not known"
        case .otherApp: "The channel does not belong to the app of the token"
        case .expiredChannel: "The channel has expired"
        case .domainBlocked: "Domain Blocked"
        case .tooLarge: "The payload is larger than 5000 bytes"
        case .unknownReason: "Nothing you know"
        default: nil
        }
    }
}

/// A refusal with the header fields that the service adds: a description and a wait.
struct WNSRefusalAnswer: Error {
    let refusal: WNSRefusal
    var description: String?
    var retryAfter: String?

    init(_ refusal: WNSRefusal, _ description: String? = nil, retryAfter: String? = nil) {
        self.refusal = refusal
        self.description = description
        self.retryAfter = retryAfter
    }
}
