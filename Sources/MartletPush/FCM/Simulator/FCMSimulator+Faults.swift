public import MartletHTTP
public import MartletModel

/// Answers requests with faults as the service would (PushServices.md, sections 2.5 and 10.8).
extension FCMSimulator {
    /// The faults that this service supports: some that most services have (`ServiceFault.Name`), and others that have
    /// the name of an error code or reason of FCM, such as `QUOTA_EXCEEDED`.
    public static let faults = Set(sendingNames + tokenNames)

    public func subject(of request: HTTPRequest) -> SimulatedSubject {
        if Self.isForToken(request) { return SimulatedSubject(.token) }
        guard request.target.hasPrefix(FCM.pathPrefix), request.target.hasSuffix(FCM.pathSuffix) else {
            return SimulatedSubject(.manage)
        }
        let project = String(request.target.dropFirst(FCM.pathPrefix.count).dropLast(FCM.pathSuffix.count))
        let token = (try? JSON(parsing: request.body))?["message"]?["token"]?.string
        return SimulatedSubject(
            .send, app: project, handle: token, marker: token.flatMap { HandleMarker(endOf: $0) })
    }

    public mutating func answer(_ request: HTTPRequest, fault: ServiceFault, at now: Timestamp) -> SimulatedAnswer {
        answer(
            request, at: now,
            give: { simulator, grant throws(FCMRefusal) in try simulator.give(grant, fault, at: now) },
            take: { simulator, push throws(FCMRefusal) in
                try simulator.take(push, fault, Self.token(of: request), at: now)
            })
    }

    private mutating func give(
        _ grant: Grant, _ fault: ServiceFault, at now: Timestamp
    ) throws(FCMRefusal) -> HTTPResponse {
        switch fault.name {
        case .textualLifetime: return give(grant, lifetime: .string(String(Self.lifetime - 1)))
        default:
            guard let refusal = Self.tokenRefusal(fault.name) else {
                return give(grant, lifetime: .integer(Self.lifetime - 1))
            }
            throw refusal.asking(for: fault.retryAfter, at: now)
        }
    }

    private mutating func take(
        _ push: FCMSimulatedPush, _ fault: ServiceFault, _ token: String, at now: Timestamp
    ) throws(FCMRefusal) -> SimulatedAnswer {
        guard let refusal = Self.refusal(fault.name, of: push.projectID)?.asking(for: fault.retryAfter, at: now)
        else { return accept(push) }
        // After the fault `expiredToken`, the access token stays expired: all later requests that use it are refused
        // too.
        if refusal.body == FCMRefusal.expiredCredential.body { grants[token]?.expiresAt = now }
        guard fault.isDelivered else { throw refusal }
        var answer = accept(push)
        answer.response = refuse(refusal).response
        return answer
    }

    private static func token(of request: HTTPRequest) -> String {
        String((request.fields["authorization"] ?? "").dropFirst("bearer ".count))
    }

    private static let sendingNames: [ServiceFault.Name] = [
        .rateLimit, .deviceRateLimit, .internalError, .unavailable, .unregistered, .unknownHandle, .wrongSender,
        .expiredToken, .credentialRefused, .unknownReason, "INVALID_ARGUMENT", "TOO_BIG", "THIRD_PARTY_AUTH_ERROR",
        "CREDENTIALS_MISSING", "PERMISSION_DENIED", "SERVICE_DISABLED", "NOT_FOUND", "QUOTA_EXCEEDED",
        "UNSPECIFIED_ERROR",
    ]
    private static let tokenNames: [ServiceFault.Name] = [.malformedToken, .textualLifetime, .tokenRefused]

    /// Returns the refusal of a message for a fault; nil if the fault does not apply to messages.
    private static func refusal(_ name: ServiceFault.Name, of project: String) -> FCMRefusal? {
        switch name {
        case .rateLimit: .sendRequests
        case .deviceRateLimit: .deviceQuota
        case .internalError: .internalError
        case .unavailable: .unavailable
        case .unregistered: .unregistered
        case .unknownHandle: .badToken
        case .wrongSender: .otherSender
        case .expiredToken: .expiredCredential
        case .credentialRefused: .badCredential
        case .unknownReason: .unknownReason
        case "INVALID_ARGUMENT": .invalidArgument
        case "TOO_BIG": .tooBig
        case "THIRD_PARTY_AUTH_ERROR": .otherServicesCredential
        case "CREDENTIALS_MISSING": .noCredential
        case "PERMISSION_DENIED": .noPermission(project)
        case "SERVICE_DISABLED": .disabled
        case "NOT_FOUND": .noProject
        case "QUOTA_EXCEEDED": .projectQuota
        case "UNSPECIFIED_ERROR": .unspecified
        default: nil
        }
    }

    /// Returns the refusal of a token request for a fault; nil if the fault does not apply to token requests.
    private static func tokenRefusal(_ name: ServiceFault.Name) -> FCMRefusal? {
        switch name {
        case .malformedToken: .noJSON
        case .tokenRefused: .badSignature
        case .internalError: .token("internal_failure", "Backend error.", .internalServerError)
        case .unavailable: .token("backend_error", "The service is unavailable.", .serviceUnavailable)
        case .rateLimit: .token("rate_limit_exceeded", "Too many requests.", .tooManyRequests)
        default: nil
        }
    }
}

extension FCMRefusal {
    /// Returns the refusal with a `retry-after` field; unchanged if no wait is given.
    fileprivate func asking(for wait: RetryAfterField?, at now: Timestamp) -> FCMRefusal {
        guard let wait else { return self }
        var refusal = self
        refusal.fields["retry-after"] = wait.value(at: now)
        return refusal
    }
}
