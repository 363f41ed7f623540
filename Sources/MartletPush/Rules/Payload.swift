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

    /// One key of several texts, of which some may be empty.
    static func key(_ parts: [String]) -> String { JSON.array(parts.map(JSON.string)).text }

    /// The seconds until a given time, as far as a platform counts.
    static func seconds(until timestamp: Timestamp, from now: Timestamp, within limits: ClosedRange<Int64>) -> Int64 {
        min(max((timestamp - now).components.seconds, limits.lowerBound), limits.upperBound)
    }

    /// What a message that shows a text carries beside it.
    static func members(naming id: NotificationID?, on platform: any PushPlatform.Type) -> [String: JSON] {
        guard let id else { return [:] }
        return [platform.notificationIDName: .string(id.description)]
    }

    /// The texts of a message by their names.
    /// - Parameter name: What the alert is called, where there is one; nil where it is somewhere else.
    static func members(of data: DataMessage, alertAs name: String? = nil) -> [String: JSON] {
        var members = Dictionary(data.texts.map { ($0.name, JSON.string($0.value)) }) { _, last in last }
        if let name, let alert = data.alert { members[name] = .string(alert) }
        return members
    }

    /// The body of a message that is for the app alone and has no form: a text by itself, or an object of several.
    static func raw(_ data: DataMessage) -> [UInt8] {
        if data.alert == nil, data.texts.count == 1 { return Array(data.texts[0].value.utf8) }
        return JSON.object(members(of: data, alertAs: "message")).bytes
    }

    /// A message with a JSON body, checked by its platform.
    static func message(
        _ payload: JSON, fields: [String: String] = [:], on platform: any PushPlatform.Type
    ) throws(PushServiceError) -> Message {
        let message = Message(body: payload.bytes, fields: fields)
        try platform.check(message)
        return message
    }
}
