public import MartletCore
public import MartletHTTP
public import MartletModel

extension WebPush {
    /// The wait before the first retry when a service throttles the sender and does not say how long to wait.
    ///
    /// The wait doubles with each further retry.
    static let throttleWait: Duration = .seconds(60)
    static let faultWait: Duration = .seconds(60)
    /// The wait before the first retry after a service refused the sender's proof of identity.
    ///
    /// The push is tried again, because an operator may correct the cause in the meantime.
    static let refusalWait: Duration = .seconds(900)

    /// Returns the outcome of a push service's answer to a push (PushServices.md, section 5.6).
    ///
    /// No answer stops the whole platform. Anyone who registers a subscription chooses the server that receives its
    /// pushes, and a server that answers 401 must not block the pushes to all other servers. A wait that a service asks
    /// for applies only to that service's origin.
    public func outcome(of response: HTTPResponse, at now: Timestamp) -> Outcome {
        let status = response.status.code
        let reason = WebPushAnswer.reason(of: response)
        let wait = Self.wait(response, at: now)
        return switch status {
        case 200, 201, 202: .accepted
        case 404, 410: Outcome(.expiredChannel, reason: reason, .drop(asOf: now, guarded: false))
        // The answer concerns the hub's key, not the subscription, so the subscription is kept.
        case 401, 403: Outcome(.invalidCredentials, reason: reason, .retry(after: Self.refusalWait, scope: .device))
        case 413: Outcome(.invalidNotificationSize, reason: reason, .refuse)
        case 406, 429:
            Outcome(.throttled, reason: reason, wait ?? .retry(after: Self.throttleWait, scope: .device))
        case 400: Outcome(.invalidNotificationFormat, reason: reason, .refuse)
        // Redirections are in this range. They could lead to any address, so they are not followed and the push is
        // refused.
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

/// Reads the reason for a refusal. Each service states the reason in a format of its own.
private enum WebPushAnswer {
    /// Returns the reason: the word in the JSON member `reason`, or the status with the number in the member `errno`,
    /// or only the status.
    static func reason(of response: HTTPResponse) -> String {
        let status = "status \(response.status.code)"
        guard response.bytes.count <= 4096, let body = try? JSON(parsing: response.bytes, maximumDepth: 8) else {
            return status
        }
        if let word = AnswerWord.checked(body["reason"]?.string) { return word }
        return body["errno"]?.integer.map { "\(status), errno \($0)" } ?? status
    }
}
