import MartletCrypto
import MartletModel

/// A notification that has passed every check.
struct WNSSimulatedPush {
    let handle: String
    let body: [UInt8]
    /// `wns/toast` and its like.
    let type: String
    /// The fields of the service's own, names in lower case.
    let fields: [String: String]
    let acceptedAt: Timestamp

    /// Whether the sender asked to be told how the device is connected.
    var wantsStatus: Bool { fields["x-wns-requestforstatus"]?.lowercased() == "true" }

    /// The document of a toast, tile or badge; nil where the device could not read it, or does not fit the type.
    var markup: SimulatedMarkup? {
        guard type != WNS.rawType, let markup = SimulatedMarkup(body),
            markup.elements.first?.name == String(type.dropFirst("wns/".count))
        else { return nil }
        return markup
    }

    func delivery(id: String) -> SimulatedDelivery {
        let shown = type == WNS.rawType ? [] : markup.map { $0.texts("text") } ?? []
        let lifetime = fields["x-wns-ttl"].flatMap(Int64.init).map(Duration.seconds) ?? .seconds(3 * 86_400)
        return SimulatedDelivery(
            id: id, handle: handle, headers: fields,
            payload: .string(String(validating: body, as: UTF8.self) ?? Base64.encode(body)),
            text: shown.isEmpty ? nil : shown.joined(separator: ", "), acceptedAt: acceptedAt,
            keptUntil: isCached ? acceptedAt + lifetime : nil)
    }

    /// Whether it waits for a device that is away. Raw notifications do not, unless the sender wants it.
    private var isCached: Bool {
        switch fields["x-wns-cache-policy"]?.lowercased() {
        case "cache": true
        case "no-cache": false
        default: type != WNS.rawType
        }
    }

    /// Whether one that waits makes way for this one: each type has one place.
    func replaces(_ older: SimulatedDelivery) -> Bool { older.headers["x-wns-type"] == type }
}
