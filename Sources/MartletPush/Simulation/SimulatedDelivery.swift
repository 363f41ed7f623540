public import MartletModel

/// A notification as a simulated device receives it.
public struct SimulatedDelivery: Hashable, Sendable {
    /// The service's id of the notification.
    public var id: String
    /// The handle it was sent to.
    public var handle: String
    /// The fields that mean something to the platform.
    public var headers: [String: String]
    public var payload: JSON
    /// What the device shows its user; nil for a notification that is for the app alone.
    public var text: String?
    public var acceptedAt: Timestamp
    /// Until when it is kept for a device that does not listen; nil means not at all.
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

    /// What the device's event stream shows.
    public var json: JSON {
        [
            "id": .string(id), "headers": .object(headers.mapValues(JSON.string)), "payload": payload,
            "text": text.map(JSON.string) ?? .null, "acceptedAt": .string(acceptedAt.iso8601),
        ]
    }
}
