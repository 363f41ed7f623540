public import MartletCore
public import MartletHTTP
public import MartletModel

extension FCM {
    /// The wait before the first retry after an internal error of the service, if the service does not say how long to
    /// wait. The wait doubles with each further retry.
    static let faultWait: Duration = .seconds(10)
    /// The wait before the first retry after a quota is exceeded, if the service does not say how long to wait. A
    /// project's quota is refilled every minute, so this is also the minimum wait for a project's quota.
    static let quotaWait: Duration = .seconds(60)

    /// Returns the outcome of the service's answer to a push (PushServices.md, section 2.5).
    ///
    /// The outcome of an error depends on the first of these that has a known value: FCM's own error code, the `reason`
    /// of Google's `ErrorInfo`, the status in the body, the HTTP status.
    public func outcome(of response: HTTPResponse, at now: Timestamp) -> Outcome {
        let answer = FCMAnswer(response)
        if response.status == .ok {
            return answer.namesMessage ? .accepted : Self.fault(.pnsInterfaceError, answer, nil)
        }
        let wait = RetryAfter.wait(response.fields, at: now)
        return Self.outcome(code: answer.code ?? "", answer, wait, at: now)
            ?? Self.outcome(infoReason: answer.infoReason ?? "", answer, wait)
            ?? Self.outcome(status: answer.status ?? "", answer, wait)
            ?? Self.outcome(httpStatus: answer.httpStatus, answer, wait)
    }

    /// Returns the outcome for FCM's own error code; nil if the code does not determine the outcome or is unknown.
    private static func outcome(
        code: String, _ answer: FCMAnswer, _ wait: Duration?, at now: Timestamp
    ) -> Outcome? {
        let reason = answer.reason
        return switch code {
        case "UNREGISTERED": Outcome(.expiredChannel, reason: reason, .drop(asOf: now, guarded: false))
        case "SENDER_ID_MISMATCH": Outcome(.wrongToken, reason: reason, .drop(asOf: nil, guarded: true))
        case "INVALID_ARGUMENT": invalidArgument(answer)
        // The project's credential for APNs or Web Push is invalid, but other devices of the project still get their
        // messages. So only this push is refused.
        case "THIRD_PARTY_AUTH_ERROR", "APNS_AUTH_ERROR": Outcome(.invalidCredentials, reason: reason, .refuse)
        case "QUOTA_EXCEEDED":
            Outcome(
                .throttled, reason: reason,
                .retry(after: wait ?? quotaWait, scope: answer.isAboutDevice ? .device : .platform))
        case "INTERNAL": fault(.pnsServerError, answer, wait)
        case "UNAVAILABLE": unavailable(answer, wait)
        default: nil
        }
    }

    private static func outcome(infoReason: String, _ answer: FCMAnswer, _ wait: Duration?) -> Outcome? {
        switch infoReason {
        case "RATE_LIMIT_EXCEEDED": projectQuota(answer, wait)
        case "ACCESS_TOKEN_EXPIRED", "ACCESS_TOKEN_TYPE_UNSUPPORTED", "CREDENTIALS_MISSING":
            Outcome(.invalidCredentials, reason: answer.reason, .reauthorize)
        case "SERVICE_DISABLED": Outcome(.invalidCredentials, reason: answer.reason, .stop)
        default: nil
        }
    }

    private static func outcome(status: String, _ answer: FCMAnswer, _ wait: Duration?) -> Outcome? {
        switch status {
        case "INVALID_ARGUMENT": invalidArgument(answer)
        case "UNAUTHENTICATED": Outcome(.invalidCredentials, reason: answer.reason, .reauthorize)
        case "PERMISSION_DENIED": Outcome(.invalidCredentials, reason: answer.reason, .stop)
        // Without FCM's own error code, this status means that the project was not found, not that the device is gone.
        // So the hub stops sending to FCM.
        case "NOT_FOUND": Outcome(.invalidCredentials, reason: answer.reason, .stop)
        case "RESOURCE_EXHAUSTED": projectQuota(answer, wait)
        case "INTERNAL": fault(.pnsServerError, answer, wait)
        case "UNAVAILABLE": unavailable(answer, wait)
        default: nil
        }
    }

    /// Returns the outcome for the HTTP status alone. The body may be a page from an intermediary.
    private static func outcome(httpStatus: Int, _ answer: FCMAnswer, _ wait: Duration?) -> Outcome {
        let reason = answer.reason
        return switch httpStatus {
        case 401: Outcome(.invalidCredentials, reason: reason, .reauthorize)
        case 403, 404: Outcome(.invalidCredentials, reason: reason, .stop)
        case 413: Outcome(.invalidNotificationSize, reason: reason, .refuseAll)
        case 429: projectQuota(answer, wait)
        // Redirections are in this range. They could lead to any address, so they are not followed and the push is
        // refused.
        case 300..<500: Outcome(.pnsInterfaceError, reason: reason, .refuse)
        case 503: unavailable(answer, wait)
        case 500..<600: fault(.pnsServerError, answer, wait)
        // The answer comes from an intermediary, not from the service.
        default: fault(.pnsInterfaceError, answer, wait)
        }
    }

    private static func invalidArgument(_ answer: FCMAnswer) -> Outcome {
        if answer.isAboutToken {
            return Outcome(.badChannel, reason: answer.reason, .drop(asOf: nil, guarded: true))
        }
        return Outcome(
            answer.isAboutSize ? .invalidNotificationSize : .invalidNotificationFormat, reason: answer.reason,
            .refuseAll)
    }

    private static func projectQuota(_ answer: FCMAnswer, _ wait: Duration?) -> Outcome {
        Outcome(
            .throttled, reason: answer.reason, .retry(after: max(wait ?? .zero, quotaWait), scope: .platform))
    }

    private static func fault(_ name: OutcomeName, _ answer: FCMAnswer, _ wait: Duration?) -> Outcome {
        Outcome(name, reason: answer.reason, .retry(after: wait ?? faultWait, scope: .device))
    }

    /// Returns the outcome for an unavailable service. If the service states a wait, all pushes of the hub to FCM wait.
    /// Otherwise only this device waits.
    private static func unavailable(_ answer: FCMAnswer, _ wait: Duration?) -> Outcome {
        Outcome(
            .pnsUnavailable, reason: answer.reason,
            .retry(after: wait ?? faultWait, scope: wait == nil ? .device : .platform))
    }
}
