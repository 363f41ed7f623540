public import MartletCore
public import MartletHTTP
public import MartletModel

extension ADM {
    /// How long everything waits where the service does not say; it doubles from there.
    static let throttleWait: Duration = .seconds(60)
    /// How long to wait after a fault of the service's own; it doubles from there.
    static let faultWait: Duration = .seconds(60)

    /// PushServices.md, section 6.3.
    public func outcome(of response: HTTPResponse, at now: Timestamp) -> Outcome {
        let body = response.bytes.count <= 16_384 ? try? JSON(parsing: response.bytes, maximumDepth: 8) : nil
        let reason = AnswerWord.checked(body?["reason"]?.string) ?? "status \(response.status.code)"
        let wait = RetryAfter.wait(response.fields, at: now)
        switch response.status.code {
        case 200: return Self.outcome(ofSuccess: body)
        case 400: return Self.outcome(reason: reason, at: now)
        case 401: return Outcome(.invalidCredentials, reason: reason, .reauthorize)
        case 404: return Outcome(.badChannel, reason: reason, .drop(asOf: now, guarded: true))
        case 413: return Outcome(.invalidNotificationSize, reason: reason, .refuseAll)
        case 429: return Outcome(.throttled, reason: reason, .retry(after: wait ?? Self.throttleWait, scope: .platform))
        case 503: return Outcome(.pnsUnavailable, reason: reason, Self.fault(wait))
        case 500..<600: return Outcome(.pnsServerError, reason: reason, Self.fault(wait))
        // Redirections are not followed.
        case 300..<500: return Outcome(.pnsInterfaceError, reason: reason, .refuse)
        default: return Self.notOfTheService(reason)
        }
    }

    /// The answer names the registration id, which is another than the one that was sent to where that was replaced.
    private static func outcome(ofSuccess body: JSON?) -> Outcome {
        guard let body, body.object != nil else { return notOfTheService("status 200 without a result") }
        guard let id = body["registrationID"]?.string, !id.isEmpty else { return .accepted }
        return Outcome(.success, .update(PushHandle(id)))
    }

    private static func outcome(reason: String, at now: Timestamp) -> Outcome {
        switch reason {
        case "Unregistered": Outcome(.expiredChannel, reason: reason, .drop(asOf: now, guarded: false))
        // So is answered to the id of another sender too.
        case "InvalidRegistrationId": Outcome(.badChannel, reason: reason, .drop(asOf: now, guarded: true))
        case "InvalidData", "InvalidConsolidationKey", "InvalidExpiration", "InvalidType":
            Outcome(.invalidNotificationFormat, reason: reason, .refuseAll)
        case "InvalidChecksum": Outcome(.invalidNotificationFormat, reason: reason, .refuse)
        default: Outcome(.pnsInterfaceError, reason: reason, .refuse)
        }
    }

    /// A wait that the service asks for holds for all of it.
    private static func fault(_ wait: Duration?) -> Reaction {
        wait.map { .retry(after: $0, scope: .platform) } ?? .retry(after: faultWait, scope: .device)
    }

    /// Something between us and the service answers in its place, so the message has not arrived.
    private static func notOfTheService(_ reason: String) -> Outcome {
        Outcome(.pnsInterfaceError, reason: reason, .retry(after: faultWait, scope: .device))
    }
}
