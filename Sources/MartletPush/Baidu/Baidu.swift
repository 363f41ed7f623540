public import MartletCore
public import MartletModel

/// Baidu's cloud push (PushServices.md, section 7.1). Registrations are stored, but nothing is sent to them.
public enum Baidu: PushPlatform {
    public static let descriptor = PushPlatformDescriptor(
        platform: PlatformID(rawValue: "baidu"), format: "baidu",
        registration: .init(
            element: "Baidu", handleElements: ["BaiduUserId", "BaiduChannelId"],
            templateElements: [.name, .option("MessageType", field: "x-baidu-message-type", isAlwaysWritten: false)]),
        credential: .init(
            element: "BaiduCredential", index: 11,
            fields: [
                .init(name: "BaiduApiKey", flag: "api-key", help: "The API key."),
                .init(name: "BaiduSecretKey", flag: "secret-key", help: "The secret key.", isSecret: true),
                .init(name: "BaiduEndPoint", flag: "endpoint", help: "The address of the service."),
            ]),
        outcomeCounts: .init(element: "BaiduOutcomeCounts", index: 8),
        fieldPrefixes: ["x-baidu-"], payloadLimit: 4096)

    public static func key(of handle: PushHandle) throws(PushServiceError) -> String {
        try HandleRules.checkOpaque(handle, "The user id", "The channel id")
        return handle.text
    }

    /// Creates a handle from the text `USERID-CHANNELID`. A text without a dash becomes a handle with one part, which
    /// `key(of:)` refuses.
    public static func handle(from text: String) -> PushHandle {
        let ids = text.split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
        return ids.count == 2 ? PushHandle(parts: ids.map(String.init)) : PushHandle(text: text)
    }

    public static func check(_ message: Message) throws(PushServiceError) {
        try Payload.checkSize(message, limit: descriptor.payloadLimit)
    }

    public static func message(showing text: String, id: NotificationID?) throws(PushServiceError) -> Message {
        var payload = Payload.members(naming: id, on: Baidu.self)
        payload["title"] = .string(text)
        return try Payload.message(.object(payload), on: Baidu.self)
    }

    public static func message(carrying data: DataMessage) throws(PushServiceError) -> Message {
        try Payload.message(.object(Payload.members(of: data, alertAs: "title")), on: Baidu.self)
    }
}
