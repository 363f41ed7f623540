import MartletCrypto
import MartletModel

/// A notification that has passed every check.
struct MPNSSimulatedPush {
    let handle: String
    let body: [UInt8]
    let kind: MPNS.Kind
    /// The elements of a tile or toast.
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
            text: shown.isEmpty ? nil : shown.joined(separator: ", "), acceptedAt: acceptedAt,
            // Raw notifications are for an app that runs.
            keptUntil: kind == .raw ? nil : acceptedAt + .seconds(86_400))
    }

    /// Whether one that waits makes way for this one: tiles do, toasts queue.
    func replaces(_ older: SimulatedDelivery) -> Bool {
        kind == .tile && older.headers["x-windowsphone-target"] == kind.target
    }
}
