import MartletHTTP
import MartletModel

/// An answer of the service other than 200 (PushServices.md, section 6.3).
struct ADMRefusal: Error, Equatable {
    let status: HTTPStatus
    /// nil where the service says nothing more.
    let reason: String?
    /// As the field says it.
    var retryAfter: String?

    init(_ status: HTTPStatus, _ reason: String? = nil, retryAfter: String? = nil) {
        self.status = status
        self.reason = reason
        self.retryAfter = retryAfter
    }

    /// One of the reasons that the service gives.
    init(reason: String) {
        self.init(Self.statuses[reason] ?? .badRequest, reason)
    }

    static let statuses: [String: HTTPStatus] = [
        "InvalidRegistrationId": .badRequest, "Unregistered": .badRequest, "InvalidData": .badRequest,
        "InvalidConsolidationKey": .badRequest, "InvalidExpiration": .badRequest, "InvalidType": .badRequest,
        "InvalidChecksum": .badRequest, "AccessTokenExpired": .unauthorized, "MessageTooLarge": .contentTooLarge,
        "MaxRateExceeded": .tooManyRequests,
    ]

    /// For counters.
    var name: String { reason ?? "\(status.code)" }

    func response(request id: String) -> HTTPResponse {
        var response = HTTPResponse(status, fields: ["x-amzn-requestid": id])
        response.fields["retry-after"] = retryAfter
        if let reason {
            response.fields["content-type"] = "application/json"
            response.body = .bytes(JSON.object(["reason": .string(reason)]).bytes)
        }
        return response
    }
}
