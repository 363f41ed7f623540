import MartletHTTP

/// An answer of the service that does not confirm the receipt of the message (PushServices.md, section 4.3).
enum MPNSRefusal: String, Error, CaseIterable {
    case method = "MethodNotAllowed"
    case unknownChannel = "ChannelExpired"
    case otherCertificate = "CertificateMismatch"
    case badRequest = "BadRequest"
    case overQuota = "DailyLimit"
    case deviceInactive = "DeviceInactive"
    case queueFull = "QueueFull"
    case suppressed = "Suppressed"
    case failing = "InternalServerError"
    case unavailable = "ServiceUnavailable"
    /// An answer with a reason that no sender knows, to test how senders treat it.
    case unknownReason = "NothingYouKnow"

    /// Returns the answer for this refusal.
    /// - Parameters:
    ///   - isListening: Whether the phone is connected.
    ///   - retryAfter: The value of the `retry-after` field.
    func response(isListening: Bool, retryAfter: String? = nil) -> HTTPResponse {
        let (status, notification, subscription): (HTTPStatus, String, String) =
            switch self {
            case .method: (.methodNotAllowed, "N/A", "N/A")
            case .unknownChannel: (.notFound, "Dropped", "Expired")
            case .otherCertificate: (.unauthorized, "N/A", "N/A")
            case .badRequest: (.badRequest, "N/A", "N/A")
            case .overQuota: (406, "Dropped", "Active")
            case .deviceInactive: (.preconditionFailed, "Dropped", "N/A")
            case .queueFull: (.ok, "QueueFull", "Active")
            case .suppressed: (.ok, "Suppressed", "Active")
            case .failing: (.internalServerError, "N/A", "N/A")
            case .unavailable: (.serviceUnavailable, "N/A", "N/A")
            case .unknownReason: (418, "Whatever", "N/A")
            }
        var response = HTTPResponse(
            status, fields: ["x-notificationstatus": notification, "x-subscriptionstatus": subscription])
        response.fields["x-deviceconnectionstatus"] = connection(isListening)
        response.fields["retry-after"] = retryAfter
        return response
    }

    private func connection(_ isListening: Bool) -> String {
        switch self {
        case .deviceInactive: "Inactive"
        case .unknownChannel: "Disconnected"
        case .overQuota, .queueFull, .suppressed: isListening ? "Connected" : "Temp Disconnected"
        default: "N/A"
        }
    }
}
