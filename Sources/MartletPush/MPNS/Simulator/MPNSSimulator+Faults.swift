public import MartletHTTP
public import MartletModel

/// Answers requests with faults as the service would (PushServices.md, sections 4.3 and 10.8).
extension MPNSSimulator {
    /// The faults that this service supports: some that most services have (`ServiceFault.Name`), and one for each case
    /// of `MPNSRefusal`. Such a fault has the raw value of the case as its name.
    public static let faults: Set<ServiceFault.Name> = Set(common.keys)
        .union(MPNSRefusal.allCases.map { ServiceFault.Name(rawValue: $0.rawValue) })

    public func subject(of request: HTTPRequest) -> SimulatedSubject {
        let handle = handle(of: request)
        return SimulatedSubject(
            .send, app: devices[handle]?.app, handle: handle, marker: HandleMarker(endOf: handle))
    }

    public mutating func answer(_ request: HTTPRequest, fault: ServiceFault, at now: Timestamp) -> SimulatedAnswer {
        let refusal = Self.common[fault.name] ?? MPNSRefusal(rawValue: fault.name.rawValue) ?? .unknownReason
        return answer(request, at: now) { simulator, push in
            var answer = simulator.refuse(
                refusal, handle: push.handle, id: push.messageID, retryAfter: fault.retryAfter?.value(at: now))
            if fault.isDelivered { answer.delivery = simulator.accept(push).delivery }
            return answer
        }
    }

    private static let common: [ServiceFault.Name: MPNSRefusal] = [
        .rateLimit: .unavailable, .deviceRateLimit: .overQuota, .internalError: .failing, .unavailable: .unavailable,
        .unregistered: .unknownChannel, .unknownHandle: .unknownChannel, .wrongSender: .otherCertificate,
        .credentialRefused: .otherCertificate, .unknownReason: .unknownReason, .dropped: .suppressed,
    ]
}
