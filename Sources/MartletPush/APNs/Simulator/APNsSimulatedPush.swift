import MartletHTTP
import MartletModel

/// A push that has passed all checks of the simulated service.
struct APNsSimulatedPush {
    var delivery: SimulatedDelivery

    /// The maximum time for which the service stores a push. A push that states no expiration is stored for this time.
    static let storageTime: Duration = .seconds(30 * 86_400)

    init(
        id: String, token: String, fields: HTTPFields, payload: JSON, expiration: Int64?, at now: Timestamp
    ) {
        var headers: [String: String] = [:]
        for field in fields where field.name.hasPrefix("apns-") { headers[field.name] = field.value }
        let longest = now + Self.storageTime
        let keptUntil = expiration.map { min(Timestamp(seconds: min($0, longest.seconds)), longest) } ?? longest
        delivery = SimulatedDelivery(
            id: id, handle: token, headers: headers, payload: payload, text: Self.text(of: payload), acceptedAt: now,
            keptUntil: keptUntil > now ? keptUntil : nil)
    }

    /// Returns the text that a device shows: the title, subtitle and body of the alert in one line.
    private static func text(of payload: JSON) -> String? {
        guard let alert = payload["aps"]?["alert"] else { return nil }
        if let text = alert.string { return text }
        return SimulatedDelivery.line(["title", "subtitle", "body"].map { alert[$0]?.string })
    }
}
