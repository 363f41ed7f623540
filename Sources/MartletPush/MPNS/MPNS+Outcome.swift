public import MartletCore
public import MartletHTTP
public import MartletModel

extension MPNS {
    /// How long a phone whose queue is full is left alone; it doubles from there.
    static let queueWait: Duration = .seconds(240)
    /// How long a channel is left alone that has had its share of the day, or whose phone has been away for long: the
    /// service shuts out those who come more often.
    static let channelWait: Duration = .seconds(3600)
    /// How long to wait after a fault of the service's own; it doubles from there.
    static let faultWait: Duration = .seconds(60)

    /// PushServices.md, section 4.3.
    public func outcome(of response: HTTPResponse, at now: Timestamp) -> Outcome {
        let answer = MPNSAnswer(response)
        let wait = RetryAfter.wait(response.fields, at: now)
        return switch response.status.code {
        case 200: Self.outcome(ofSuccess: answer)
        // Also said of an address that was made up, so it concerns nobody else.
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
        // Redirections are not followed: they could lead anywhere.
        case 300..<500: Outcome(.pnsInterfaceError, reason: answer.reason, .refuse)
        default: Self.notOfTheService(answer.reason)
        }
    }

    /// The status is 200 for what does not arrive too.
    private static func outcome(ofSuccess answer: MPNSAnswer) -> Outcome {
        switch answer.notification {
        case "received": .accepted
        case "queuefull": Outcome(.channelThrottled, reason: "QueueFull", .retry(after: queueWait, scope: .device))
        case "suppressed": Outcome(.dropped, reason: "Suppressed", .refuse)
        case "dropped": Outcome(.dropped, reason: "Dropped", .refuse)
        default: notOfTheService("status 200 without a known X-NotificationStatus")
        }
    }

    /// A wait that the service asks for holds for all of its host.
    private static func fault(_ wait: Duration?) -> Reaction {
        wait.map { .retry(after: $0, scope: .origin) } ?? .retry(after: faultWait, scope: .device)
    }

    /// Something between us and the service answers in its place, so the message has not arrived.
    private static func notOfTheService(_ reason: String) -> Outcome {
        Outcome(.pnsInterfaceError, reason: reason, .retry(after: faultWait, scope: .device))
    }
}

/// What the service says beside the status, in lower case; nil where it says nothing.
private struct MPNSAnswer {
    let notification: String?
    let subscription: String?
    /// The service's own words, as far as they are words, or the status.
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
