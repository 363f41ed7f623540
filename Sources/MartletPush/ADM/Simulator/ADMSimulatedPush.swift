import MartletModel

/// A message that has passed all checks of the simulated service.
struct ADMSimulatedPush {
    static let defaultLifetime: Int64 = 604_800

    /// The registration id that the message was sent to.
    let handle: String
    let payload: JSON
    let acceptedAt: Timestamp

    /// Returns the message in the form in which the device receives it.
    /// - Parameter handle: The registration id to which the message is delivered.
    func delivery(id: String, to handle: String) -> SimulatedDelivery {
        var headers: [String: String] = [:]
        for name in ["consolidationKey", "priority"] { headers[name] = payload[name]?.string }
        let notification = payload["notification"]
        let shown =
            SimulatedDelivery.line([notification?["title"]?.string, notification?["body"]?.string])
            ?? SimulatedDelivery.line([payload["data"]?["title"]?.string, payload["data"]?["message"]?.string])
        let lifetime = payload["expiresAfter"]?.integer ?? Self.defaultLifetime
        return SimulatedDelivery(
            id: id, handle: handle, headers: headers, payload: payload,
            text: shown, acceptedAt: acceptedAt,
            keptUntil: acceptedAt + .seconds(lifetime))
    }

    /// Returns whether this message replaces an older message that is stored for the same device. A message replaces an
    /// older one with the same `consolidationKey`.
    func replaces(_ older: SimulatedDelivery) -> Bool {
        guard let key = payload["consolidationKey"]?.string else { return false }
        return older.headers["consolidationKey"] == key
    }
}
