import MartletModel

/// A message that has passed all checks of the simulated service.
struct WebPushSimulatedPush {
    let handle: String
    /// The subscription of the real browser that the message is for; nil for a made-up subscription.
    let channel: BrowserChannel?
    /// The body as received.
    let body: [UInt8]
    /// The decrypted message; empty if the request has no body; nil if the simulator cannot decrypt the body.
    ///
    /// The simulator cannot decrypt a message for a real browser, or a message that was encrypted with wrong keys. A
    /// real service could not detect wrong keys.
    let content: [UInt8]?
    /// The time to live in seconds, reduced to the service's maximum.
    let timeToLive: Int64
    let urgency: String?
    let topic: String?
    let acceptedAt: Timestamp

    func delivery(id: String) -> SimulatedDelivery {
        var headers = ["ttl": String(timeToLive)]
        headers["urgency"] = urgency
        headers["topic"] = topic
        let text = content.map { String(decoding: $0, as: UTF8.self) }
        let object = content.flatMap { try? JSON(parsing: $0) }
        let sealed: JSON = channel == nil ? .null : ["encryptedBytes": .integer(Int64(body.count))]
        let payload = object ?? text.map(JSON.string) ?? sealed
        return SimulatedDelivery(
            id: id, handle: handle, headers: headers, payload: payload,
            text: SimulatedDelivery.line(["title", "body"].map { payload[$0]?.string })
                ?? (payload.object == nil ? text : nil),
            acceptedAt: acceptedAt,
            keptUntil: timeToLive > 0 ? acceptedAt + .seconds(timeToLive) : nil)
    }

    /// Returns the text that a device's inbox shows for a message that a real browser has acknowledged with a code.
    static func acknowledged(_ code: Int64) -> String {
        switch code {
        case 100: "delivered"
        case 101: "not decrypted"
        case 102: "not delivered"
        default: "acknowledged with \(code)"
        }
    }

    /// Returns whether this message replaces an older message that is stored for the same subscription.
    func replaces(_ older: SimulatedDelivery) -> Bool {
        topic != nil && older.headers["topic"] == topic
    }
}
