import MartletCore
import MartletModel

/// What the payloads of several platforms have in common.
enum Payload {
    /// Checks that there is a body and that it is not larger than the platform takes.
    /// - Parameter limit: In bytes.
    static func checkSize(_ message: Message, limit: Int) throws(PushServiceError) {
        guard !message.body.isEmpty else { throw PushServiceError(.badMessage, "The message has no body.") }
        guard message.body.count <= limit else {
            throw PushServiceError(
                .messageTooLarge, "The payload has \(message.body.count) bytes; the platform takes \(limit).")
        }
    }

    /// Reads a body that is a JSON object.
    static func object(_ message: Message) throws(PushServiceError) -> JSON {
        let payload: JSON
        do throws(JSONError) {
            payload = try JSON(parsing: message.body)
        } catch {
            throw PushServiceError(.badMessage, "The payload must be a JSON object. \(error)")
        }
        guard case .object = payload else {
            throw PushServiceError(.badMessage, "The payload must be a JSON object.")
        }
        return payload
    }

    /// A message with a JSON body, checked by its platform.
    static func message(
        _ payload: JSON, on platform: any PushPlatform.Type
    ) throws(PushServiceError) -> Message {
        let message = Message(body: payload.bytes)
        try platform.check(message)
        return message
    }
}
