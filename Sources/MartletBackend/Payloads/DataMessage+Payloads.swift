import MartletCore
import MartletModel

// The data that pushes carry about payloads (NotificationHubs.md, sections 14.4 and 14.5).
extension DataMessage {
    /// Returns the data of a push for a rich payload. The app shows `message`, and fetches the payload by its id.
    static func rich(_ id: PayloadID, message: String, type: String) -> DataMessage {
        DataMessage(
            texts: [
                Text(.richID, id.description), Text(.richMessage, message), Text(.richType, type),
            ], sound: "")
    }

    /// Returns the data of a push for a secure payload. The app fetches the secret text by its id.
    /// - Parameter message: The text for an app whose user has to log in first; empty for no text.
    static func secure(_ id: PayloadID, message: String) -> DataMessage {
        let id = Text(.secureID, id.description)
        return DataMessage(texts: message.isEmpty ? [id] : [id, Text(.secureMessage, message)])
    }
}

extension DataMessage.Text {
    init(_ name: PayloadName, _ value: String) {
        self.init(name.rawValue, value)
    }
}
