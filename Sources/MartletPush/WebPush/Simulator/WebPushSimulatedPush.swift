import MartletModel

/// A message that has passed every check.
struct WebPushSimulatedPush {
    let handle: String
    /// The real browser that it is for; nil for a made-up subscription.
    let channel: BrowserChannel?
    /// As it came.
    let body: [UInt8]
    /// As it was sent, in clear text; nil where it cannot be opened here, because it is for a real browser or the keys of
    /// the subscription do not open it, which a real service could not notice.
    let content: [UInt8]?
    /// In seconds, at most what the service keeps.
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
            text: payload["title"]?.string ?? payload["body"]?.string ?? (payload.object == nil ? text : nil),
            acceptedAt: acceptedAt,
            keptUntil: timeToLive > 0 ? acceptedAt + .seconds(timeToLive) : nil)
    }

    /// What people are shown of a message that a real browser has said something of.
    static func acknowledged(_ code: Int64) -> String {
        switch code {
        case 100: "delivered"
        case 101: "not decrypted"
        case 102: "not delivered"
        default: "acknowledged with \(code)"
        }
    }

    /// Whether an undelivered message makes way for this one.
    func replaces(_ older: SimulatedDelivery) -> Bool {
        topic != nil && older.headers["topic"] == topic
    }
}
