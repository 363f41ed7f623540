import MartletHTTP
import MartletModel

/// An answer of the service other than 200 (PushServices.md, section 6.3).
struct ADMRefusal: Error, Equatable {
    let status: HTTPStatus
    /// The reason in the body; nil if the service gives none.
    let reason: String?
    /// The value of the `retry-after` field.
    var retryAfter: String?

    init(_ status: HTTPStatus, _ reason: String? = nil, retryAfter: String? = nil) {
        self.status = status
        self.reason = reason
        self.retryAfter = retryAfter
    }

    /// Creates a refusal with a reason, and with the status that the service sends with that reason. A reason that is
    /// not in `statuses` gets the status 400.
    init(reason: String) {
        self.init(Self.statuses[reason] ?? .badRequest, reason)
    }

    static let statuses: [String: HTTPStatus] = [
        "InvalidRegistrationId": .badRequest, "Unregistered": .badRequest, "InvalidData": .badRequest,
        "InvalidConsolidationKey": .badRequest, "InvalidExpiration": .badRequest, "InvalidType": .badRequest,
        "InvalidChecksum": .badRequest, "AccessTokenExpired": .unauthorized, "MessageTooLarge": .contentTooLarge,
        "MaxRateExceeded": .tooManyRequests,
    ]

    /// The name of the refusal. In `ADMSimulator.counters`, it has the prefix `refused.`.
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
