public import MartletCore
public import MartletModel

/// A platform that only tests know, and to which Martlet cannot send. Its handles have two parts, which are compared
/// exactly.
public struct MessageInABottle: PushPlatform {
    public static let platform = PlatformID(rawValue: "bottle")

    public static let descriptor = PushPlatformDescriptor(
        platform: platform, format: "bottle",
        registration: .init(element: "Bottle", handleElements: ["Ocean", "Shore"]),
        credential: .init(element: "BottleCredential", fields: []),
        outcomeCounts: .init(element: "BottleOutcomeCounts"),
        fieldPrefixes: ["bottle-"], payloadLimit: 100)

    public static func key(of handle: PushHandle) throws(PushServiceError) -> String {
        guard handle.parts.count == 2, handle.parts.allSatisfy({ !$0.isEmpty }) else {
            throw PushServiceError(.badHandle, "A bottle needs an ocean and a shore.")
        }
        return handle.text
    }

    public static func check(_ message: Message) throws(PushServiceError) {
        guard message.body.count <= descriptor.payloadLimit else {
            throw PushServiceError(.messageTooLarge, "A bottle holds at most \(descriptor.payloadLimit) bytes.")
        }
    }

    public static func message(showing text: String, id: NotificationID?) throws(PushServiceError) -> Message {
        let message = Message(
            body: Array(text.utf8), fields: id.map { ["bottle-notification": $0.description] } ?? [:])
        try check(message)
        return message
    }

    /// Returns a message with one line for each value. A device of this platform displays nothing by itself.
    public static func message(carrying data: DataMessage) throws(PushServiceError) -> Message {
        let message = Message(body: Array(data.texts.map(\.value).joined(separator: "\n").utf8))
        try check(message)
        return message
    }
}
