public import MartletHTTP
public import MartletModel

/// Answers requests with faults as the service would (PushServices.md, sections 3.4 and 10.8).
extension WNSSimulator {
    /// The faults that this service supports: some that most services have (`ServiceFault.Name`), and one for each case
    /// of `WNSRefusal`. Such a fault has the raw value of the case as its name. Three further faults are for the token
    /// endpoints.
    public static let faults: Set<ServiceFault.Name> = Set(common.keys).union(
        WNSRefusal.allCases.map { ServiceFault.Name(rawValue: $0.rawValue) }
    )
    .union([.malformedToken, .textualLifetime, .tokenRefused])

    public func subject(of request: HTTPRequest) -> SimulatedSubject {
        if WNSTokenEndpoint(request.target) != nil { return SimulatedSubject(.token) }
        let handle = "\(origin)\(request.target)"
        return SimulatedSubject(
            .send, app: devices[handle]?.app, handle: handle, marker: HandleMarker(endOf: request.target))
    }

    public mutating func answer(_ request: HTTPRequest, fault: ServiceFault, at now: Timestamp) -> SimulatedAnswer {
        let refusal = Self.common[fault.name] ?? WNSRefusal(rawValue: fault.name.rawValue) ?? .unknownReason
        return answer(request, tokenFault: fault, at: now) { simulator, push in
            var answer = simulator.refuse(
                WNSRefusalAnswer(refusal, retryAfter: fault.retryAfter?.value(at: now)))
            if fault.isDelivered { answer.delivery = simulator.accept(push).delivery }
            return answer
        }
    }

    private static let common: [ServiceFault.Name: WNSRefusal] = [
        .rateLimit: .appThrottled, .deviceRateLimit: .channelThrottled, .internalError: .failing,
        .unavailable: .unavailable, .unregistered: .expiredChannel, .unknownHandle: .unknownChannel,
        .wrongSender: .otherApp, .expiredToken: .badToken, .credentialRefused: .badToken,
        .unknownReason: .unknownReason, .dropped: .dropped,
    ]
}
