public import MartletHTTP
public import MartletModel

/// Answers requests with faults as the service would (PushServices.md, sections 1.9 and 10.8).
extension APNsSimulator {
    /// The faults that this service supports: some that most services have (`ServiceFault.Name`), and one for each
    /// reason that the service can give. Such a fault has the same name as the reason, for example `BadTopic`.
    public static let faults = Set(common.keys).union(APNsRefusal.statuses.keys.map { ServiceFault.Name(rawValue: $0) })

    public func subject(of request: HTTPRequest) -> SimulatedSubject {
        guard request.target.hasPrefix(APNs.devicePath) else { return SimulatedSubject(.manage) }
        let token = request.target.dropFirst(APNs.devicePath.count).lowercased()
        let topic = request.fields["apns-topic"]
        let suffix = topic.flatMap(APNsPushType.init(suffixOf:))?.topicSuffix ?? ""
        return SimulatedSubject(
            .send, app: topic.map { String($0.dropLast(suffix.count)) }, handle: token,
            marker: APNsMarker(endOf: token)?.marker)
    }

    public mutating func answer(_ request: HTTPRequest, fault: ServiceFault, at now: Timestamp) -> SimulatedAnswer {
        let refusal = Self.refusal(for: fault, at: now)
        return answer(request, at: now) { simulator, push throws(APNsRefusal) in
            if fault.isSticky, let connection = request.connection?.id {
                simulator.connections[connection]?.sticky = refusal
            }
            guard fault.isDelivered else { throw refusal }
            let accepted = simulator.accept(push, on: request.connection?.id)
            var answer = simulator.refuse(refusal, id: push.delivery.id)
            answer.delivery = accepted.delivery
            answer.steps += accepted.steps
            return answer
        }
    }

    private static let common: [ServiceFault.Name: String] = [
        .rateLimit: "TooManyRequests", .deviceRateLimit: "TooManyRequests", .internalError: "InternalServerError",
        .unavailable: "ServiceUnavailable", .unregistered: "Unregistered", .unknownHandle: "BadDeviceToken",
        .wrongSender: "DeviceTokenNotForTopic", .expiredToken: "ExpiredProviderToken",
        .credentialRefused: "InvalidProviderToken", .unknownReason: "NothingYouKnow",
    ]

    private static func refusal(for fault: ServiceFault, at now: Timestamp) -> APNsRefusal {
        let reason = common[fault.name] ?? fault.name.rawValue
        let status = APNsRefusal.statuses[reason] ?? .badRequest
        return APNsRefusal(status, reason, timestamp: status == .gone ? now + .seconds(-(fault.age ?? 0)) : nil)
    }
}

extension APNsRefusal {
    /// The status of each reason in PushServices.md, section 1.9.
    static let statuses: [String: HTTPStatus] = [
        "BadCollapseId": .badRequest, "BadDeviceToken": .badRequest, "BadExpirationDate": .badRequest,
        "BadMessageId": .badRequest, "BadPriority": .badRequest, "BadTopic": .badRequest,
        "DeviceTokenNotForTopic": .badRequest, "DuplicateHeaders": .badRequest, "IdleTimeout": .badRequest,
        "InvalidPushType": .badRequest, "MissingDeviceToken": .badRequest, "MissingTopic": .badRequest,
        "PayloadEmpty": .badRequest, "TopicDisallowed": .badRequest, "BadCertificate": .forbidden,
        "BadCertificateEnvironment": .forbidden, "BadEnvironmentKeyIdInToken": .forbidden,
        "BadEnvironmentKeyInToken": .forbidden, "ExpiredProviderToken": .forbidden, "Forbidden": .forbidden,
        "InvalidProviderToken": .forbidden, "MissingProviderToken": .forbidden, "UnrelatedKeyIdInToken": .forbidden,
        "BadPath": .notFound, "MethodNotAllowed": .methodNotAllowed, "ExpiredToken": .gone, "Unregistered": .gone,
        "PayloadTooLarge": .contentTooLarge, "TooManyProviderTokenUpdates": .tooManyRequests,
        "TooManyRequests": .tooManyRequests, "InternalServerError": .internalServerError,
        "ServiceUnavailable": .serviceUnavailable, "Shutdown": .serviceUnavailable,
    ]
}
