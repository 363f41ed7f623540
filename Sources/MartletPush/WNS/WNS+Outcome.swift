public import MartletCore
public import MartletHTTP
public import MartletModel

extension WNS {
    /// The wait before the first retry to a channel that got too many notifications. The wait doubles with each further
    /// retry.
    static let channelWait: Duration = .seconds(600)
    /// The wait before the first retry if the service throttles the sender or is unavailable, without saying how long
    /// to wait. It is also the wait if an intermediary answers instead of the service.
    ///
    /// The wait doubles with each further retry.
    static let throttleWait: Duration = .seconds(60)
    /// The wait before the first retry after an internal error of the service. The wait doubles with each further
    /// retry.
    static let faultWait: Duration = .seconds(10)
    /// The minimum wait before the first retry to a device that cannot be reached. The wait doubles with each further
    /// retry.
    static let deviceWait: Duration = .seconds(60)

    /// Returns the outcome of the service's answer to a push (PushServices.md, section 3.4).
    public func outcome(of response: HTTPResponse, at now: Timestamp) -> Outcome {
        let answer = WNSAnswer(response)
        let wait = Self.wait(response.fields, at: now)
        return switch response.status.code {
        case 200: Self.outcome(status: answer.status)
        case 400: Outcome(.invalidNotificationFormat, reason: answer.reason, .refuseAll)
        case 401: Outcome(.invalidCredentials, reason: answer.reason, .reauthorize)
        case 403: Outcome(.wrongToken, reason: answer.reason, .drop(asOf: now, guarded: true))
        case 404: Outcome(.badChannel, reason: answer.reason, .drop(asOf: now, guarded: false))
        case 405: Outcome(.pnsInterfaceError, reason: answer.reason, .refuseAll)
        case 406, 429:
            Outcome(.throttled, reason: answer.reason, .retry(after: wait ?? Self.throttleWait, scope: .platform))
        case 410 where answer.saysBlocked: Outcome(.invalidCredentials, reason: answer.reason, .stop)
        case 410: Outcome(.expiredChannel, reason: answer.reason, .drop(asOf: now, guarded: true))
        case 412:
            Outcome(
                .channelDisconnected, reason: answer.reason,
                .retry(after: max(wait ?? .zero, Self.deviceWait), scope: .device))
        case 413: Outcome(.invalidNotificationSize, reason: answer.reason, .refuseAll)
        case 503:
            Outcome(
                .pnsUnavailable, reason: answer.reason, .retry(after: wait ?? Self.throttleWait, scope: .platform))
        case 500..<600:
            Outcome(.pnsServerError, reason: answer.reason, .retry(after: wait ?? Self.faultWait, scope: .device))
        // Redirections are in this range. They could lead to any address, so they are not followed and the push is
        // refused.
        case 300..<500: Outcome(.pnsInterfaceError, reason: answer.reason, .refuse)
        default: Self.intermediaryAnswered(answer.reason)
        }
    }

    /// Returns the wait that the service asks for. The older field `x-wns-continue-after` has the same meaning as
    /// `retry-after`.
    private static func wait(_ fields: HTTPFields, at now: Timestamp) -> Duration? {
        var fields = fields
        fields["retry-after"] = fields["retry-after"] ?? fields["x-wns-continue-after"]
        return RetryAfter.wait(fields, at: now)
    }

    /// Returns the outcome of an answer with status 200. The field `X-WNS-Status` decides, because the service also
    /// answers 200 for notifications that it discards.
    private static func outcome(status: String?) -> Outcome {
        switch status {
        case "received": .accepted
        case "dropped": Outcome(.dropped, reason: "dropped", .refuse)
        case "channelthrottled":
            Outcome(.channelThrottled, reason: "channelthrottled", .retry(after: channelWait, scope: .device))
        default: intermediaryAnswered("status 200 without a known \(WNSAnswer.statusField)")
        }
    }

    /// Returns the outcome of an answer that comes from an intermediary, such as a proxy. The push is tried again,
    /// because the intermediary's answer means that the message has not reached the service.
    private static func intermediaryAnswered(_ reason: String) -> Outcome {
        Outcome(.pnsInterfaceError, reason: reason, .retry(after: throttleWait, scope: .device))
    }
}

/// The details of an answer besides the HTTP status.
private struct WNSAnswer {
    static let statusField = "X-WNS-Status"

    /// The value of the status field in lower case; nil if there is none.
    let status: String?
    /// The description of the error if it is safe to show, otherwise the HTTP status.
    let reason: String
    let saysBlocked: Bool

    init(_ response: HTTPResponse) {
        status = (response.fields["x-wns-status"] ?? response.fields["x-wns-notificationstatus"])?.lowercased()
        let description = response.fields["x-wns-error-description"] ?? ""
        saysBlocked = description.lowercased().contains("blocked")
        reason = Self.isSentence(description) ? description : "status \(response.status.code)"
    }

    /// Returns whether a text is safe to show. A safe text has only letters, digits, spaces and simple punctuation.
    ///
    /// Channel URIs must be kept secret. They contain `:` and `/`, so they never pass this check.
    private static func isSentence(_ text: String) -> Bool {
        (1...128).contains(text.utf8.count)
            && text.utf8.allSatisfy { character in
                switch character {
                case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                    UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: " "), UInt8(ascii: "."), UInt8(ascii: ","),
                    UInt8(ascii: "-"), UInt8(ascii: "'"):
                    true
                default: false
                }
            }
    }
}
