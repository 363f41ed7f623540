public import MartletHTTP
public import MartletModel

/// Answers requests with faults as the service would (PushServices.md, sections 6.3 and 10.8).
extension ADMSimulator {
    /// The faults that this service supports: some that most services have (`ServiceFault.Name`), and one for each
    /// reason that the service can give. Such a fault has the same name as the reason, for example `InvalidChecksum`.
    public static let faults: Set<ServiceFault.Name> = Set(common.keys)
        .union(ADMRefusal.statuses.keys.map { ServiceFault.Name(rawValue: $0) })
        .union([.replacedHandle, .malformedToken, .textualLifetime, .tokenRefused])

    public func subject(of request: HTTPRequest) -> SimulatedSubject {
        if request.target == Self.tokenPath { return SimulatedSubject(.token) }
        guard let handle = Self.handle(of: request) else { return SimulatedSubject(.manage) }
        return SimulatedSubject(
            .send, app: devices[handle]?.app, handle: handle, marker: HandleMarker(endOf: handle))
    }

    public mutating func answer(_ request: HTTPRequest, fault: ServiceFault, at now: Timestamp) -> SimulatedAnswer {
        var refusal = Self.common[fault.name] ?? ADMRefusal(reason: fault.name.rawValue)
        refusal.retryAfter = fault.retryAfter?.value(at: now)
        return answer(request, tokenFault: fault, at: now) { simulator, push in
            if fault.name == .replacedHandle {
                simulator.replace(push.handle)
                return simulator.accept(push)
            }
            var answer = simulator.refuse(refusal)
            if fault.isDelivered { answer.delivery = simulator.accept(push).delivery }
            return answer
        }
    }

    private static let common: [ServiceFault.Name: ADMRefusal] = [
        .rateLimit: ADMRefusal(reason: "MaxRateExceeded"), .deviceRateLimit: ADMRefusal(reason: "MaxRateExceeded"),
        .internalError: ADMRefusal(.internalServerError), .unavailable: ADMRefusal(.serviceUnavailable),
        .unregistered: ADMRefusal(reason: "Unregistered"), .unknownHandle: ADMRefusal(reason: "InvalidRegistrationId"),
        .wrongSender: ADMRefusal(reason: "InvalidRegistrationId"),
        .expiredToken: ADMRefusal(reason: "AccessTokenExpired"), .credentialRefused: ADMRefusal(.unauthorized),
        .unknownReason: ADMRefusal(reason: "NothingYouKnow"),
    ]
}
