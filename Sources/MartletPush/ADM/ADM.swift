public import MartletCore
public import MartletModel

/// Amazon Device Messaging (push services document, section 6).
public enum ADM: PushPlatform {
    public static let descriptor = PushPlatformDescriptor(
        platform: PlatformID(rawValue: "adm"), format: "adm", registrationElement: "Adm",
        handleElements: ["AdmRegistrationId"], credentialElement: "AdmCredential", credentialPlace: 10,
        credentialFields: [
            .init(name: "ClientId", flag: "client-id", help: "The client id."),
            .init(name: "ClientSecret", flag: "client-secret", help: "The client secret.", isSecret: true),
            .init(name: "AuthTokenUrl", flag: "token-endpoint", help: "Where access tokens are had."),
            .init(
                name: "SendUrlTemplate", flag: "send-url",
                help: "Where messages go; {0} stands for the registration id."),
        ],
        outcomeCountsElement: "AdmOutcomeCounts", outcomeCountsPlace: 4, fieldPrefixes: [], payloadLimit: 6144)

    public static func key(of handle: PushHandle) throws(PushServiceError) -> String {
        try HandleRules.checkOpaque(handle, "The registration id")
        return handle.text
    }

    public static func check(_ message: Message) throws(PushServiceError) {
        try Payload.checkSize(message, limit: descriptor.payloadLimit)
        let payload = try Payload.object(message)
        guard payload["data"].map({ $0.object != nil }) ?? true else {
            throw PushServiceError(.badMessage, "\"data\" must be a JSON object.")
        }
    }

    public static func message(showing text: String) throws(PushServiceError) -> Message {
        try Payload.message(["data": ["message": .string(text)]], on: ADM.self)
    }
}
