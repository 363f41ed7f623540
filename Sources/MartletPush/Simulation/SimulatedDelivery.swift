public import MartletModel

/// A notification in the form in which a simulated device receives it.
public struct SimulatedDelivery: Hashable, Sendable {
    /// The service's id of the notification.
    public var id: String
    /// The handle that the notification was sent to.
    public var handle: String
    /// The header fields of the notification that have a meaning for the platform.
    public var headers: [String: String]
    public var payload: JSON
    /// The text that the device shows, in one line; nil for a notification that is only for the app.
    public var text: String?
    public var acceptedAt: Timestamp
    /// The time until which the notification is stored for a device that is not listening; nil if it is not stored.
    public var keptUntil: Timestamp?

    public init(
        id: String, handle: String, headers: [String: String], payload: JSON, text: String?, acceptedAt: Timestamp,
        keptUntil: Timestamp?
    ) {
        self.id = id
        self.handle = handle
        self.headers = headers
        self.payload = payload
        self.text = text
        self.acceptedAt = acceptedAt
        self.keptUntil = keptUntil
    }

    /// Joins the texts that a device shows into one line.
    ///
    /// The title is the first text.
    /// - Returns: nil if the device shows nothing.
    static func line(_ texts: [String?]) -> String? {
        let shown = texts.compactMap { $0 }
        return shown.isEmpty ? nil : shown.joined(separator: ": ")
    }

    /// The notification as JSON, as the device's event stream contains it.
    public var json: JSON {
        [
            "id": .string(id), "headers": .object(headers.mapValues(JSON.string)), "payload": payload,
            "text": text.map(JSON.string) ?? .null, "acceptedAt": .string(acceptedAt.iso8601),
        ]
    }
}
