import MartletCrypto
import MartletModel

/// A notification that has passed all checks of the simulated service.
struct WNSSimulatedPush {
    let handle: String
    let body: [UInt8]
    /// The type of the notification, such as `wns/toast`.
    let type: String
    /// The header fields that begin with `x-wns-`, by name in lower case.
    let fields: [String: String]
    let acceptedAt: Timestamp

    /// Whether the sender requested the connection status of the device.
    var wantsStatus: Bool { fields["x-wns-requestforstatus"]?.lowercased() == "true" }

    /// The document of a toast, tile or badge; nil for a raw notification, for a document that the device cannot parse,
    /// and for a document whose root element does not belong to the type.
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
            text: SimulatedDelivery.line(shown), acceptedAt: acceptedAt,
            keptUntil: isCached ? acceptedAt + lifetime : nil)
    }

    /// Whether the notification is stored for a device that is not connected.
    ///
    /// A raw notification is stored only if the sender requests it.
    private var isCached: Bool {
        switch fields["x-wns-cache-policy"]?.lowercased() {
        case "cache": true
        case "no-cache": false
        default: type != WNS.rawType
        }
    }

    /// Returns whether this notification replaces an older notification that is stored for the same device.
    ///
    /// An older notification of the same type is replaced, because the service stores only one notification of each
    /// type.
    func replaces(_ older: SimulatedDelivery) -> Bool { older.headers["x-wns-type"] == type }
}
