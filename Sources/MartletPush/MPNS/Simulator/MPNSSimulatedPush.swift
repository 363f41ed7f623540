import MartletCrypto
import MartletModel

/// A notification that has passed all checks of the simulated service.
struct MPNSSimulatedPush {
    let handle: String
    let body: [UInt8]
    let kind: MPNS.Kind
    /// The elements of a tile or toast; nil for a raw notification.
    let markup: SimulatedMarkup?
    let classText: String
    let messageID: String?
    let acceptedAt: Timestamp

    func delivery(id: String) -> SimulatedDelivery {
        var headers = ["x-notificationclass": classText]
        headers["x-windowsphone-target"] = kind.target
        headers["x-messageid"] = messageID
        let shown = ["Text1", "Text2", "Title"].flatMap { markup?.texts($0) ?? [] }
        return SimulatedDelivery(
            id: id, handle: handle, headers: headers,
            payload: .string(String(validating: body, as: UTF8.self) ?? Base64.encode(body)),
            text: SimulatedDelivery.line(shown), acceptedAt: acceptedAt,
            // A raw notification is not stored, because only an app that is running when it arrives can receive it.
            keptUntil: kind == .raw ? nil : acceptedAt + .seconds(86_400))
    }

    /// Returns whether this notification replaces an older notification that is stored for the same phone.
    ///
    /// A tile replaces an older tile. A toast replaces nothing, because toasts are queued.
    func replaces(_ older: SimulatedDelivery) -> Bool {
        kind == .tile && older.headers["x-windowsphone-target"] == kind.target
    }
}
