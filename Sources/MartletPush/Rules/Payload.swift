import MartletCore
import MartletModel

/// Functions that several platforms share to check and write payloads.
enum Payload {
    /// Checks that there is a body and that it does not exceed the platform's limit.
    /// - Parameter limit: The limit, in bytes.
    static func checkSize(_ message: Message, limit: Int) throws(PushServiceError) {
        guard !message.body.isEmpty else { throw PushServiceError(.badMessage, "The message has no body.") }
        guard message.body.count <= limit else {
            throw PushServiceError(
                .messageTooLarge, "The payload has \(message.body.count) bytes; the platform takes \(limit).")
        }
    }

    /// Parses the body of a message, which must be a JSON object.
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

    /// Returns one collapse key made of several parts. A part may be empty.
    static func key(_ parts: [String]) -> String { JSON.array(parts.map(JSON.string)).text }

    /// Returns the seconds from now until a time. A result outside the limits is replaced by the nearest limit.
    static func seconds(until timestamp: Timestamp, from now: Timestamp, within limits: ClosedRange<Int64>) -> Int64 {
        min(max((timestamp - now).components.seconds, limits.lowerBound), limits.upperBound)
    }

    /// Returns an object that contains only the notification id, under the platform's name for it. The object is empty
    /// if there is no id.
    static func members(naming id: NotificationID?, on platform: any PushPlatform.Type) -> [String: JSON] {
        guard let id else { return [:] }
        return [platform.notificationIDName: .string(id.description)]
    }

    /// Returns the texts of a data message as JSON members.
    /// - Parameter name: The member name of the alert; nil if the alert is in another part of the message.
    static func members(of data: DataMessage, alertAs name: String? = nil) -> [String: JSON] {
        var members = Dictionary(data.texts.map { ($0.name, JSON.string($0.value)) }) { _, last in last }
        if let name, let alert = data.alert { members[name] = .string(alert) }
        return members
    }

    /// Returns the body of a message that is only for the app, in a free format. If the data is a single text without
    /// an alert, the body is that text. Otherwise the body is a JSON object with all texts and the alert.
    static func raw(_ data: DataMessage) -> [UInt8] {
        if data.alert == nil, data.texts.count == 1 { return Array(data.texts[0].value.utf8) }
        return JSON.object(members(of: data, alertAs: "message")).bytes
    }

    /// Creates a message with a JSON body, and checks it by the rules of the platform.
    static func message(
        _ payload: JSON, fields: [String: String] = [:], on platform: any PushPlatform.Type
    ) throws(PushServiceError) -> Message {
        let message = Message(body: payload.bytes, fields: fields)
        try platform.check(message)
        return message
    }
}
