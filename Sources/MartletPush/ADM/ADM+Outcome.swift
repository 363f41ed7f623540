public import MartletCore
public import MartletHTTP
public import MartletModel

extension ADM {
    /// The wait before the first retry when the service throttles the sender and does not say how long to wait. During
    /// the wait, no push of the same hub is sent to ADM.
    ///
    /// The wait doubles with each further retry.
    static let throttleWait: Duration = .seconds(60)
    /// The wait before the first retry after an internal error of the service, or after an answer that is not from the
    /// service. The wait doubles with each further retry.
    static let faultWait: Duration = .seconds(60)

    /// Returns the outcome of the service's answer to a push (PushServices.md, section 6.3).
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
        // Redirections are in this range. They are not followed, so the push is refused.
        case 300..<500: return Outcome(.pnsInterfaceError, reason: reason, .refuse)
        default: return Self.intermediaryAnswered(reason)
        }
    }

    /// Returns the outcome of an answer with status 200. The answer contains the device's current registration id,
    /// which becomes the device's handle. If ADM has replaced the id of the device, the current id differs from the id
    /// in the request.
    private static func outcome(ofSuccess body: JSON?) -> Outcome {
        guard let body, body.object != nil else { return intermediaryAnswered("status 200 without a result") }
        guard let id = body[idMember]?.string, !id.isEmpty else { return .accepted }
        return Outcome(.success, .update(PushHandle(id)))
    }

    private static func outcome(reason: String, at now: Timestamp) -> Outcome {
        switch reason {
        case "Unregistered": Outcome(.expiredChannel, reason: reason, .drop(asOf: now, guarded: false))
        // A registration id that belongs to another sender gets this reason too, so the removal is guarded: the device
        // is removed only if other pushes show that the hub's credential is right.
        case "InvalidRegistrationId": Outcome(.badChannel, reason: reason, .drop(asOf: now, guarded: true))
        case "InvalidData", "InvalidConsolidationKey", "InvalidExpiration", "InvalidType":
            Outcome(.invalidNotificationFormat, reason: reason, .refuseAll)
        case "InvalidChecksum": Outcome(.invalidNotificationFormat, reason: reason, .refuse)
        default: Outcome(.pnsInterfaceError, reason: reason, .refuse)
        }
    }

    /// Returns the reaction to an error of the service. If the service asks for a wait, all pushes of the hub to ADM
    /// wait. Otherwise only this device waits.
    private static func fault(_ wait: Duration?) -> Reaction {
        wait.map { .retry(after: $0, scope: .platform) } ?? .retry(after: faultWait, scope: .device)
    }

    /// Returns the outcome of an answer that comes from an intermediary, such as a proxy. The push is tried again,
    /// because the intermediary's answer means that the message has not reached the service.
    private static func intermediaryAnswered(_ reason: String) -> Outcome {
        Outcome(.pnsInterfaceError, reason: reason, .retry(after: faultWait, scope: .device))
    }
}
