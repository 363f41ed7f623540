import MartletModel

/// A message that has passed all checks of the simulated service.
struct FCMSimulatedPush {
    let projectID: String
    /// The device's token; nil for a message to a topic or condition. No simulated device is subscribed to a topic.
    let token: String?
    /// The message in the spelling of the API description, without its target.
    let message: JSON
    let isOnlyValidated: Bool
    let acceptedAt: Timestamp

    func delivery(id: String) -> SimulatedDelivery? {
        guard let token else { return nil }
        let android = message["android"]
        var headers: [String: String] = [:]
        for name in ["priority", "ttl", "collapse_key"] { headers[name] = android?[name]?.string }
        let timeToLive =
            android?["ttl"]?.string.flatMap(FCMMessage.timeToLive) ?? FCMMessage.timeToLiveLimit
        return SimulatedDelivery(
            id: id, handle: token, headers: headers, payload: message, text: text, acceptedAt: acceptedAt,
            keptUntil: timeToLive > 0 ? acceptedAt + .seconds(timeToLive) : nil)
    }

    /// The text that the device shows: the title and body of the notification. Without a notification, it is the member
    /// `message` of the data, because apps that follow Microsoft's tutorials show this member.
    private var text: String? {
        let notification = message["notification"]
        let own = message["android"]?["notification"]
        let data = message["android"]?["data"] ?? message["data"]
        return SimulatedDelivery.line(["title", "body"].map { (own?[$0] ?? notification?[$0])?.string })
            ?? data?["message"]?.string
    }

    /// Returns whether this message replaces an older message that is stored for the same device. A message replaces an
    /// older one with the same `collapse_key` for Android.
    func replaces(_ older: SimulatedDelivery) -> Bool {
        let key = message["android"]?["collapse_key"]?.string
        return key != nil && older.headers["collapse_key"] == key
    }
}
