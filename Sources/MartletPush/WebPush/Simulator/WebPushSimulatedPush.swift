import MartletModel

/// A message that has passed every check.
struct WebPushSimulatedPush {
    let handle: String
    /// As it was sent, in clear text; nil where the keys of the subscription do not open it, which a real service could
    /// not notice.
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
        let payload = content.flatMap { try? JSON(parsing: $0) } ?? text.map(JSON.string) ?? .null
        return SimulatedDelivery(
            id: id, handle: handle, headers: headers, payload: payload,
            text: payload["title"]?.string ?? payload["body"]?.string ?? text, acceptedAt: acceptedAt,
            keptUntil: timeToLive > 0 ? acceptedAt + .seconds(timeToLive) : nil)
    }

    /// Whether an undelivered message makes way for this one.
    func replaces(_ older: SimulatedDelivery) -> Bool {
        topic != nil && older.headers["topic"] == topic
    }
}
