public import MartletCore
import MartletCrypto
import MartletHTTP
public import MartletModel

extension WebPush {
    /// Returns the key of a subscription, which is its endpoint. So a subscription replaces an earlier one with the
    /// same endpoint, even if the encryption keys differ.
    ///
    /// An endpoint on this machine may use http; any other endpoint must use https. The hub's credential decides
    /// whether pushes are sent to an endpoint on this machine.
    public static func key(of handle: PushHandle) throws(PushServiceError) -> String {
        guard handle.parts.count == 3 else {
            throw PushServiceError(.badHandle, "A subscription has an endpoint, a p256dh and an auth.")
        }
        guard let endpoint = HandleRules.canonicalURL(handle.parts[0], allowsHTTP: true),
            let (origin, _) = HTTPOrigin.splitting(endpoint),
            origin.scheme == .https || origin.isLoopback
        else {
            throw PushServiceError(.badHandle, "The endpoint of a subscription is an absolute https address.")
        }
        guard origin.port > 0, origin.isLoopback || origin.scheme.isUsual(origin.port) else {
            throw PushServiceError(
                .badHandle,
                "The endpoint of a subscription has port 443, or 1024 and above; this one has \(origin.port).")
        }
        guard let point = WebPushSubscription.decode(handle.parts[1].utf8), P256PublicKey.isValid(rawPoint: point)
        else {
            throw PushServiceError(
                .badHandle, "The p256dh of a subscription is an uncompressed point of P-256, 65 bytes in base64url.")
        }
        guard let secret = WebPushSubscription.decode(handle.parts[2].utf8), secret.count == 16 else {
            throw PushServiceError(.badHandle, "The auth of a subscription is 16 bytes in base64url.")
        }
        return endpoint
    }

    /// Reads a subscription from text.
    ///
    /// In installations, the text is JSON: `{"endpoint", "p256dh", "auth"}`. In text that a browser has written,
    /// `p256dh` and `auth` are members of `keys`.
    public static func handle(from text: String) -> PushHandle {
        guard let subscription = try? JSON(parsing: Array(text.utf8), maximumDepth: 4),
            let endpoint = subscription["endpoint"]?.string
        else { return PushHandle(text: text) }
        let keys = subscription["keys"] ?? subscription
        return PushHandle(endpoint, keys["p256dh"]?.string ?? "", keys["auth"]?.string ?? "")
    }

    /// Returns the key of the subscription that a text identifies; nil if the text contains no endpoint.
    ///
    /// The text may be the endpoint alone.
    public static func key(meantBy text: String) -> String? {
        HandleRules.canonicalURL(handle(from: text).parts[0], allowsHTTP: true)
    }

    public static func encryptionKey(of handle: PushHandle) -> [UInt8]? {
        WebPushSubscription(handle.text.utf8).map { $0.point + $0.secret }
    }

    public static func normalized(_ message: Message, at now: Timestamp) -> Message {
        WebPushHeaders.normalized(message)
    }

    public static func check(_ message: Message) throws(PushServiceError) {
        _ = try WebPushHeaders(message)
        try Payload.checkSize(message, limit: plaintextLimit)
    }

    public static func message(showing text: String, id: NotificationID?) throws(PushServiceError) -> Message {
        var payload = Payload.members(naming: id, on: WebPush.self)
        payload["title"] = .string(text)
        return try Payload.message(.object(payload), on: WebPush.self)
    }

    public static func message(carrying data: DataMessage) throws(PushServiceError) -> Message {
        try Payload.message(.object(Payload.members(of: data, alertAs: "title")), on: WebPush.self)
    }
}

extension WebPush {
    public static func collapseKey(of message: Message) -> String? { (try? WebPushHeaders(message))?.topic }
}
