public import MartletHTTP
public import MartletModel

/// Answers requests with faults as browsers' push services would (PushServices.md, sections 5.6 and 10.8).
extension WebPushSimulator {
    public static let faults: Set<ServiceFault.Name> = Set(refusals.keys)

    public func subject(of request: HTTPRequest) -> SimulatedSubject {
        guard let endpoint = WebPushSimulatedEndpoint(request.target) else { return SimulatedSubject() }
        return SimulatedSubject(
            .send, app: WebPushFlavour(path: request.target)?.rawValue, handle: subscriptions[endpoint.token]?.handle,
            marker: endpoint.marker)
    }

    public mutating func answer(_ request: HTTPRequest, fault: ServiceFault, at now: Timestamp) -> SimulatedAnswer {
        answer(request, at: now) { simulator, push, flavour in
            let refusal = Self.refusals[fault.name] ?? .unknownReason
            var answer = simulator.refuse(refusal, flavour, retryAfter: fault.retryAfter?.value(at: now))
            if fault.isDelivered {
                let accepted = simulator.accept(push, flavour)
                answer.delivery = accepted.delivery
                answer.socketSteps = accepted.socketSteps
            }
            return answer
        }
    }

    private static let refusals: [ServiceFault.Name: WebPushRefusal] = [
        .rateLimit: .tooMany, .deviceRateLimit: .tooMany, .internalError: .failing(.internalServerError),
        .unavailable: .failing(.serviceUnavailable), .unregistered: .gone, .unknownHandle: .badEndpoint,
        .wrongSender: .otherKey, .expiredToken: .badProof, .credentialRefused: .badProof,
        .unknownReason: .unknownReason,
    ]
}
