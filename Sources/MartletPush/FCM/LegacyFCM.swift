public import MartletCore
public import MartletModel

/// Google's messaging as its old HTTP API spoke of it, and as many apps and payloads still do (push services document,
/// sections 2.6 and 2.7). Its devices are another platform than those of `FCM`.
public enum LegacyFCM: PushPlatform {
    public static let descriptor = PushPlatformDescriptor(
        platform: PlatformID(rawValue: "gcm"), aliases: ["fcm"], format: "gcm", formatAliases: ["fcm"],
        registrationElement: "Gcm", handleElements: ["GcmRegistrationId"], credentialElement: "GcmCredential",
        credentialPlace: 4,
        credentialFields: [
            .init(name: "GoogleApiKey", flag: "api-key", help: "The server key.", isSecret: true),
            .init(name: "GcmEndpoint", flag: "endpoint", help: "The address of the service."),
        ],
        outcomeCountsElement: "GcmOutcomeCounts", outcomeCountsPlace: 3, fieldPrefixes: [], payloadLimit: FCM.dataLimit)

    public static func key(of handle: PushHandle) throws(PushServiceError) -> String {
        try HandleRules.checkOpaque(handle, "The registration id")
        return handle.text
    }

    public static func check(_ message: Message) throws(PushServiceError) {
        let payload = try Payload.object(message)
        guard payload["data"].map({ $0.object != nil }) ?? true else {
            throw PushServiceError(.badMessage, "\"data\" must be a JSON object.")
        }
        try FCM.checkSize(of: payload["data"])
    }

    public static func message(showing text: String) throws(PushServiceError) -> Message {
        try Payload.message(["data": ["message": .string(text)]], on: LegacyFCM.self)
    }
}
