public import MartletCore
public import MartletHTTP
public import MartletModel

extension MPNS {
    /// The wait before the first retry to a phone whose queue is full. The wait doubles with each further retry.
    static let queueWait: Duration = .seconds(240)
    /// The wait before the first retry to a channel that has used up its daily quota, or whose phone is inactive. The
    /// service blocks a sender that sends to an inactive phone more than once an hour.
    static let channelWait: Duration = .seconds(3600)
    /// The wait before the first retry after an internal error of the service, or after an answer that is not from the
    /// service. The wait doubles with each further retry.
    static let faultWait: Duration = .seconds(60)

    /// Returns the outcome of the service's answer to a push (PushServices.md, section 4.3).
    public func outcome(of response: HTTPResponse, at now: Timestamp) -> Outcome {
        let answer = MPNSAnswer(response)
        let wait = RetryAfter.wait(response.fields, at: now)
        return switch response.status.code {
        case 200: Self.outcome(ofSuccess: answer)
        // The service also answers 400 to a channel URI that somebody has made up. So only this push is refused. The
        // message is still sent to all other devices.
        case 400: Outcome(.invalidNotificationFormat, reason: answer.reason, .refuse)
        case 401: Outcome(.wrongToken, reason: answer.reason, .drop(asOf: now, guarded: true))
        case 404:
            Outcome(
                .expiredChannel, reason: answer.reason, .drop(asOf: now, guarded: answer.subscription != "expired"))
        case 405: Outcome(.pnsInterfaceError, reason: answer.reason, .refuseAll)
        case 406, 429:
            Outcome(.throttled, reason: answer.reason, .retry(after: wait ?? Self.channelWait, scope: .device))
        case 412:
            Outcome(
                .channelDisconnected, reason: answer.reason,
                .retry(after: max(wait ?? .zero, Self.channelWait), scope: .device))
        case 503: Outcome(.pnsUnavailable, reason: answer.reason, Self.fault(wait))
        case 500..<600: Outcome(.pnsServerError, reason: answer.reason, Self.fault(wait))
        // Redirections are in this range. They could lead to any address, so they are not followed and the push is
        // refused.
        case 300..<500: Outcome(.pnsInterfaceError, reason: answer.reason, .refuse)
        default: Self.intermediaryAnswered(answer.reason)
        }
    }

    /// Returns the outcome of an answer with status 200. The field `X-NotificationStatus` decides, because the service
    /// also answers 200 for notifications that it does not deliver.
    private static func outcome(ofSuccess answer: MPNSAnswer) -> Outcome {
        switch answer.notification {
        case "received": .accepted
        case "queuefull": Outcome(.channelThrottled, reason: "QueueFull", .retry(after: queueWait, scope: .device))
        case "suppressed": Outcome(.dropped, reason: "Suppressed", .refuse)
        case "dropped": Outcome(.dropped, reason: "Dropped", .refuse)
        default: intermediaryAnswered("status 200 without a known X-NotificationStatus")
        }
    }

    /// Returns the reaction to an error of the service. If the service asks for a wait, all pushes to the same origin
    /// wait. Otherwise only this device waits.
    private static func fault(_ wait: Duration?) -> Reaction {
        wait.map { .retry(after: $0, scope: .origin) } ?? .retry(after: faultWait, scope: .device)
    }

    /// Returns the outcome of an answer that comes from an intermediary, such as a proxy. The push is tried again,
    /// because the intermediary's answer means that the message has not reached the service.
    private static func intermediaryAnswered(_ reason: String) -> Outcome {
        Outcome(.pnsInterfaceError, reason: reason, .retry(after: faultWait, scope: .device))
    }
}

/// The service's status fields. Their values are in lower case. A missing field is nil.
private struct MPNSAnswer {
    let notification: String?
    let subscription: String?
    /// The HTTP status, followed by those status fields that are safe to show.
    let reason: String

    init(_ response: HTTPResponse) {
        let names = ["x-notificationstatus", "x-deviceconnectionstatus", "x-subscriptionstatus"]
        let words = names.map { name in
            AnswerWord.checked(response.fields[name].map { String($0.filter { $0 != " " && $0 != "/" }) })
        }
        notification = words[0]?.lowercased()
        subscription = words[2]?.lowercased()
        let spoken = words.compactMap(\.self).filter { $0 != "NA" }
        reason = (["status \(response.status.code)"] + spoken).joined(separator: ", ")
    }
}
