public import MartletCore
public import MartletHTTP
public import MartletModel

extension WebPush {
    /// How long to wait where a service does not say; it doubles from there.
    static let throttleWait: Duration = .seconds(60)
    static let faultWait: Duration = .seconds(60)
    /// How long a refused proof of the sender waits to be refused again, or to be mended meanwhile.
    static let refusalWait: Duration = .seconds(900)

    /// PushServices.md, section 5.6.
    ///
    /// Nothing here stops the whole platform: anyone who registers a subscription chooses what answers for it, and one who
    /// answers 401 must not silence everybody else. A wait that a service asks for holds for its own origin.
    public func outcome(of response: HTTPResponse, at now: Timestamp) -> Outcome {
        let status = response.status.code
        let reason = WebPushAnswer.reason(of: response)
        let wait = Self.wait(response, at: now)
        return switch status {
        case 200, 201, 202: .accepted
        case 404, 410: Outcome(.expiredChannel, reason: reason, .drop(asOf: now, guarded: false))
        // Says something of the hub's key and nothing of the subscription, which is kept.
        case 401, 403: Outcome(.invalidCredentials, reason: reason, .retry(after: Self.refusalWait, scope: .device))
        case 413: Outcome(.invalidNotificationSize, reason: reason, .refuse)
        case 406, 429:
            Outcome(.throttled, reason: reason, wait ?? .retry(after: Self.throttleWait, scope: .device))
        case 400: Outcome(.invalidNotificationFormat, reason: reason, .refuse)
        // Redirections are not followed: they could lead anywhere.
        case 300..<500: Outcome(.pnsInterfaceError, reason: reason, .refuse)
        case 503: Outcome(.pnsUnavailable, reason: reason, wait ?? .retry(after: Self.faultWait, scope: .device))
        case 500..<600: Outcome(.pnsServerError, reason: reason, wait ?? .retry(after: Self.faultWait, scope: .device))
        default: Outcome(.pnsInterfaceError, reason: reason, .refuse)
        }
    }

    private static func wait(_ response: HTTPResponse, at now: Timestamp) -> Reaction? {
        RetryAfter.wait(response.fields, at: now).map { .retry(after: $0, scope: .origin) }
    }
}

/// What services say of a refusal, each in its own form.
private enum WebPushAnswer {
    /// A word of letters from JSON that has a `reason`, the number from one with an `errno`, and the status.
    static func reason(of response: HTTPResponse) -> String {
        let status = "status \(response.status.code)"
        guard response.bytes.count <= 4096, let body = try? JSON(parsing: response.bytes, maximumDepth: 8) else {
            return status
        }
        if let word = AnswerWord.checked(body["reason"]?.string) { return word }
        return body["errno"]?.integer.map { "\(status), errno \($0)" } ?? status
    }
}
