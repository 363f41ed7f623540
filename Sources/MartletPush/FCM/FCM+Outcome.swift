public import MartletCore
public import MartletHTTP
public import MartletModel

extension FCM {
    /// How long to wait after a fault of the service's own; it doubles from there.
    static let faultWait: Duration = .seconds(10)
    /// How long to wait where a quota is used up and the service does not say; a project's is filled up every minute.
    static let quotaWait: Duration = .seconds(60)

    /// PushServices.md, section 2.5: the service's own code decides, then the reason that all of Google's services
    /// give, then the status in the body, then that of HTTP.
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

    /// nil for a code that does not decide, or that nobody has heard of.
    private static func outcome(
        code: String, _ answer: FCMAnswer, _ wait: Duration?, at now: Timestamp
    ) -> Outcome? {
        let reason = answer.reason
        return switch code {
        case "UNREGISTERED": Outcome(.expiredChannel, reason: reason, .drop(asOf: now, guarded: false))
        case "SENDER_ID_MISMATCH": Outcome(.wrongToken, reason: reason, .drop(asOf: nil, guarded: true))
        case "INVALID_ARGUMENT": invalidArgument(answer)
        // The project's own credential for other services is bad; devices of this one go on.
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
        // Without the service's own code it is the project that was not found.
        case "NOT_FOUND": Outcome(.invalidCredentials, reason: answer.reason, .stop)
        case "RESOURCE_EXHAUSTED": projectQuota(answer, wait)
        case "INTERNAL": fault(.pnsServerError, answer, wait)
        case "UNAVAILABLE": unavailable(answer, wait)
        default: nil
        }
    }

    /// What the status alone says; the body may be a page of something in between.
    private static func outcome(httpStatus: Int, _ answer: FCMAnswer, _ wait: Duration?) -> Outcome {
        let reason = answer.reason
        return switch httpStatus {
        case 401: Outcome(.invalidCredentials, reason: reason, .reauthorize)
        case 403, 404: Outcome(.invalidCredentials, reason: reason, .stop)
        case 413: Outcome(.invalidNotificationSize, reason: reason, .refuseAll)
        case 429: projectQuota(answer, wait)
        // Redirections are not followed: they could lead anywhere.
        case 300..<500: Outcome(.pnsInterfaceError, reason: reason, .refuse)
        case 503: unavailable(answer, wait)
        case 500..<600: fault(.pnsServerError, answer, wait)
        // Not from the service: something between us and it answers in its place.
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

    /// A service that says how long it is away is away for everybody.
    private static func unavailable(_ answer: FCMAnswer, _ wait: Duration?) -> Outcome {
        Outcome(
            .pnsUnavailable, reason: answer.reason,
            .retry(after: wait ?? faultWait, scope: wait == nil ? .device : .platform))
    }
}
