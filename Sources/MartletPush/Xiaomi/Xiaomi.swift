public import MartletCore
public import MartletModel

/// Xiaomi's Mi Push (PushServices.md, section 7.2). Registrations are stored, but nothing is sent to them.
public enum Xiaomi: PushPlatform {
    public static let descriptor = PushPlatformDescriptor(
        platform: PlatformID(rawValue: "xiaomi"), format: "xiaomi",
        registration: .init(
            element: "Xiaomi", handleElements: ["XiaomiRegistrationId"], hiddenFrom: ["api-origin=dotnetsdk"]),
        credential: .init(
            element: "XiaomiCredential",
            fields: [
                .init(
                    name: "AppSecret", flag: "app-secret", help: "The app's secret.", isSecret: true, isExtension: true),
                .init(name: "Endpoint", flag: "endpoint", help: "The address of the service.", isExtension: true),
            ]),
        outcomeCounts: .init(element: "XiaomiOutcomeCounts", index: 10),
        fieldPrefixes: [], payloadLimit: 4096)

    public static func key(of handle: PushHandle) throws(PushServiceError) -> String {
        try HandleRules.checkOpaque(handle, "The registration id")
        return handle.text
    }

    public static func check(_ message: Message) throws(PushServiceError) {
        try Payload.checkSize(message, limit: descriptor.payloadLimit)
    }

    public static func message(showing text: String, id: NotificationID?) throws(PushServiceError) -> Message {
        var payload = Payload.members(naming: id, on: Xiaomi.self)
        payload["title"] = .string(text)
        return try Payload.message(.object(payload), on: Xiaomi.self)
    }

    public static func message(carrying data: DataMessage) throws(PushServiceError) -> Message {
        try Payload.message(.object(Payload.members(of: data, alertAs: "title")), on: Xiaomi.self)
    }
}
