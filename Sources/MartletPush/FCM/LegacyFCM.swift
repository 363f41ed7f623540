public import MartletCore
public import MartletHTTP
public import MartletModel

/// Firebase Cloud Messaging for payloads and registrations in the form of the old HTTP API. Many senders and apps still
/// use this form (PushServices.md, sections 2.6 and 2.7).
///
/// The old API is switched off. Therefore `FCM` sends the messages to devices of this platform, with the hub's
/// credential for `fcmv1`.
public struct LegacyFCM: PushService {
    public static let descriptor = PushPlatformDescriptor(
        platform: PlatformID(rawValue: "gcm"), aliases: ["fcm"], format: "gcm", formatAliases: ["fcm"],
        registration: .init(element: "Gcm", handleElements: ["GcmRegistrationId"]),
        credential: .init(
            element: "GcmCredential", index: 4,
            fields: [
                .init(
                    name: "GoogleApiKey", flag: "api-key", help: "The old API's server key; kept, not used.",
                    isSecret: true
                ),
                .init(name: "GcmEndpoint", flag: "endpoint", help: "The old API's address; kept, not used."),
            ]),
        credentialPlatform: FCM.descriptor.platform,
        outcomeCounts: .init(element: "GcmOutcomeCounts", index: 3),
        fieldPrefixes: [], payloadLimit: FCMMessage.sizeLimit, look: "phone-b")

    private let service: FCM

    public init(credential: Credential) throws(PushServiceError) {
        service = try FCM(credential: credential)
    }

    public static func collapseKey(of message: Message) -> String? { FCM.collapseKey(of: message) }

    public static func limited(_ message: Message, to expiry: Timestamp, at now: Timestamp) -> Message {
        FCM.limited(message, to: expiry, at: now)
    }

    public var pace: SendingRate? { service.pace }

    public func authorization(at now: Timestamp) throws(PushServiceError) -> Authorization {
        try service.authorization(at: now)
    }

    public func token(from response: HTTPResponse, at now: Timestamp) -> TokenAnswer {
        service.token(from: response, at: now)
    }

    public func shared(
        _ message: Message, token: String?, expiry: Timestamp, at now: Timestamp
    ) throws(PushServiceError) -> RequestBatch.Shared {
        try service.shared(message, token: token, expiry: expiry, at: now)
    }

    public func append(
        _ handle: UnsafeBufferPointer<UInt8>, id: MessageID, message: Message, to batch: inout RequestBatch
    ) throws(PushServiceError) {
        try service.append(handle, id: id, message: message, to: &batch)
    }

    public func outcome(of response: HTTPResponse, at now: Timestamp) -> Outcome {
        service.outcome(of: response, at: now)
    }
}

extension LegacyFCM {
    public static func key(of handle: PushHandle) throws(PushServiceError) -> String {
        try HandleRules.checkOpaque(handle, "The registration id")
        return handle.text
    }

    /// Translates a payload of the old API to a message of the HTTP v1 API.
    ///
    /// A payload that already has the form of the HTTP v1 API is passed to `FCM.normalized(_:at:)`.
    public static func normalized(_ message: Message, at now: Timestamp) -> Message {
        guard let payload = try? Payload.object(message).object else { return message }
        guard payload["message"]?.object == nil else { return FCM.normalized(message, at: now) }
        let translation = LegacyTranslation(payload, at: now)
        var message = message
        message.body = FCMMessage.canonical(
            translation.content, options: translation.isDryRun ? ["validate_only": true] : [:])
        return message
    }

    public static func dropped(from message: Message) -> [String] {
        guard let payload = try? Payload.object(message).object else { return [] }
        guard payload["message"]?.object == nil else { return FCM.dropped(from: message) }
        return LegacyTranslation(payload, at: Timestamp(seconds: 0)).dropped.sorted()
    }

    public static func check(_ message: Message) throws(PushServiceError) {
        _ = try Payload.object(message)
        try FCM.check(normalized(message, at: Timestamp(seconds: 0)))
    }

    public static func payloadSize(of message: Message) -> Int { FCM.payloadSize(of: message) }

    public static func message(showing text: String, id: NotificationID?) throws(PushServiceError) -> Message {
        var data = Payload.members(naming: id, on: LegacyFCM.self)
        data["message"] = .string(text)
        return try Payload.message(["data": .object(data)], on: LegacyFCM.self)
    }

    /// Creates a message that carries data in its member `data`. The app shows the alert, if there is one.
    ///
    /// A message with an alert has high priority, because the service wakes the app immediately only for that priority.
    public static func message(carrying data: DataMessage) throws(PushServiceError) -> Message {
        var payload: [String: JSON] = ["data": .object(Payload.members(of: data, alertAs: "message"))]
        if data.alert != nil { payload["priority"] = "high" }
        return try Payload.message(.object(payload), on: LegacyFCM.self)
    }
}
